// A label before the camera leads to its device's page: QR codes and Code 128, where the browser can read them.
// Elsewhere, and for a scanner that types, there is the field beside it.
"use strict";

const button = document.getElementById("scan");
const view = document.getElementById("scanning");
const video = view.querySelector("video");
const WANTED = ["qr_code", "code_128"];
const EVERY = 200; // milliseconds

async function able() {
  if (!("BarcodeDetector" in window) || !navigator.mediaDevices) return [];
  const known = await BarcodeDetector.getSupportedFormats();
  return WANTED.filter((each) => known.includes(each));
}

// A label of ours, and the code of a ticket, hold an address of these pages; any other code is looked for as a serial number.
function place(code) {
  try {
    const address = new URL(code);
    if (address.pathname === "/find") return `/find${address.search}`;
    if (/^\/tickets\/\d+$/.test(address.pathname)) return address.pathname;
  } catch { /* no address */ }
  return `/find?q=${encodeURIComponent(code.slice(0, 100))}`;
}

async function scan(formats) {
  const told = document.getElementById("scanned");
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    told.textContent = "The camera cannot be used; type the serial number.";
    return;
  }
  view.showModal();
  video.srcObject = stream;
  const detector = new BarcodeDetector({ formats });
  try {
    await video.play();
    while (view.open) {
      const [found] = await detector.detect(video).catch(() => []);
      if (found?.rawValue) { location.href = place(found.rawValue); return; }
      await new Promise((resolve) => { setTimeout(resolve, EVERY); });
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
    if (view.open) view.close();
  }
}

able().then((formats) => {
  if (!formats.length) return;
  button.hidden = false;
  button.addEventListener("click", () => scan(formats));
}).catch(() => null);
