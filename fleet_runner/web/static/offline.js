// Tickets without a connection: what somebody reports as done waits in this browser, and is sent once there is one.
// Each report has a key of its own: sent twice, it counts once. A photo is drawn anew, so only the picture leaves the phone. Nothing of somebody else who used this browser stays.
"use strict";

const me = document.body.dataset.who;
const keeps = me && window.isSecureContext && navigator.locks && window.caches && window.indexedDB;
const LASTS = 12 * 3600 * 1000; // milliseconds, as long as a session
const LONGEST = 500; // characters
const SIDE = 1600; // pixels of a photo
const ANSWERS_WITHIN = 20000; // milliseconds for an answer; a report that arrived all the same counts once
const REFUSED = new Set([400, 404, 409, 413, 422]); // what stays refused however often it is sent
const ticket = document.querySelector("[data-ticket]")?.dataset.ticket;

function store() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open("fleet-runner", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("reports", { keyPath: "key" });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

async function reports(mode, act) {
  const database = await store();
  try {
    return await new Promise((resolve, reject) => {
      const change = database.transaction("reports", mode);
      const asked = act(change.objectStore("reports"));
      change.oncomplete = () => resolve(asked.result);
      change.onabort = change.onerror = () => reject(change.error);
    });
  } finally {
    database.close();
  }
}

async function waiting() {
  const all = await reports("readonly", (store) => store.getAll());
  return all.filter((each) => each.who === me).sort(inTurn);
}

// Photos last: one that is too large for a bad connection keeps no report waiting.
const inTurn = (one, other) => Boolean(one.photo) - Boolean(other.photo) || one.pressed - other.pressed;

const called = (each) => each.photo ? "photo" : "report";

async function send() {
  const told = [];
  for (const each of (await waiting()).filter((one) => !one.refused)) {
    let answer;
    try {
      answer = await fetch(`/tickets/${each.number}/${each.photo ? "photos" : "done"}`, {
        method: "POST",
        headers: { accept: "application/json", ...JSON.parse(document.body.getAttribute("hx-headers")) },
        body: each.photo || new URLSearchParams({ key: each.key, words: each.words, waited: seconds(each) }),
        signal: AbortSignal.timeout(ANSWERS_WITHIN),
      });
    } catch {
      break; // no connection
    }
    // An answer of somebody else, such as the page of a network that wants a login, is none.
    const ours = !answer.redirected && answer.headers.get("content-type")?.startsWith("application/json");
    const said = ours && answer.ok ? await answer.json().catch(() => null) : null;
    if (said) {
      told.push(said.sentence);
      await reports("readwrite", (all) => all.delete(each.key));
    } else if (ours && REFUSED.has(answer.status)) {
      const why = (await answer.json().catch(() => null))?.detail;
      await reports("readwrite", (all) => all.put({ ...each, refused: answer.status, why }));
    } else {
      told.push(answer.status === 401 || answer.status === 403
        ? `Ticket ${each.number}: log in again to send your ${called(each)}.`
        : `Ticket ${each.number}: your ${called(each)} could not be sent (${answer.status}); it is kept.`);
    }
  }
  return told;
}

// How long a report waited, by the phone's clock, which may be wrong by years; a thousand million is what the server takes.
const seconds = (each) => Math.min(1e9, Math.max(0, Date.now() / 1000 - each.pressed));

async function flush() {
  const told = await navigator.locks.request("reports", send);
  const left = await waiting();
  const unsent = left.filter((each) => !each.refused).map((each) => `${each.photo ? "a photo" : "done"}, of ticket ${each.number}`);
  if (unsent.length) told.push(`Not sent yet: ${unsent.join("; ")}. It waits in this browser for a connection.`);
  note(told, left.filter((each) => each.refused));
  return left.length;
}

function note(sentences, refused) {
  let shown = document.getElementById("reports");
  if (!sentences.length && !refused.length && !shown) return;
  if (!shown) {
    shown = document.createElement("div");
    shown.id = "reports";
    shown.setAttribute("role", "status");
    document.getElementById("content").prepend(shown);
  }
  shown.replaceChildren(...[...new Set(sentences)].map(line), ...refused.map(refusal));
}

function line(sentence) {
  const made = document.createElement("p");
  made.className = "note";
  made.textContent = sentence;
  return made;
}

function refusal(each) {
  const words = each.words ? ` You wrote: "${each.words}".` : "";
  const next = each.photo ? ` It says: "${each.why}".` : " Say it on a ticket that there is, or to a colleague.";
  const made = line(`Ticket ${each.number}: the server refuses your ${called(each)} (${each.refused}).${words}${next} `);
  const forget = document.createElement("button");
  forget.type = "button";
  forget.textContent = "Forget it";
  forget.addEventListener("click", async () => {
    await reports("readwrite", (all) => all.delete(each.key));
    await flush();
  });
  made.append(forget);
  return made;
}

async function drawn(file) {
  const found = await createImageBitmap(file);
  const scale = Math.min(1, SIDE / Math.max(found.width, found.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [found.width, found.height].map((each) => Math.max(1, Math.round(each * scale)));
  canvas.getContext("2d").drawImage(found, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => { canvas.toBlob((made) => made ? resolve(made) : reject(new Error()), "image/jpeg", 0.8); });
}

// Whatever was chosen is looked at at once: what is no picture is not sent, and the form says so.
async function photoOf(field) {
  const [file] = field.files;
  try { return file ? await drawn(file) : null; } catch {
    field.value = "";
    field.nextElementSibling.textContent = "This is no photo that this browser can read; take another one.";
    return false;
  }
}

async function report(form) {
  const field = form.querySelector(".photo");
  const photo = field && await photoOf(field);
  if (photo === false) return;
  const given = new FormData(form);
  // A kept page may be reported from again, so its own key is not taken. What still waits for this ticket is one report;
  // with other words it has another key, for the first one may have arrived already.
  await navigator.locks.request("reports", async () => {
    const before = (await waiting()).find((one) => one.number === ticket && !one.photo && !one.refused);
    const words = [...new Set([before?.words, given.get("words")])].filter(Boolean).join("; ").slice(0, LONGEST);
    const key = before && before.words === words ? before.key : crypto.randomUUID();
    const each = { key, who: me, number: ticket, words, pressed: Date.now() / 1000 };
    if (form.elements.key) form.elements.key.value = key;
    await reports("readwrite", (all) => {
      if (photo) all.put({ ...each, key: crypto.randomUUID(), photo, words: "" });
      if (!form.elements.key) return all.count(); // the photo is all
      if (before && before.key !== key) all.delete(before.key);
      return all.put(each);
    });
    if (field) field.value = ""; // it waits now, and is not taken twice
  });
  if (await flush()) return;
  if (location.pathname === `/tickets/${ticket}`) location.reload();
  else location.href = `/tickets/${ticket}#proof`;
}

if (keeps) document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("form[data-report]")) {
    event.preventDefault();
    try { await report(form); } catch {
      if (form.querySelector(".photo")?.value) note(["This browser cannot keep the photo. Go on without it."], []);
      else form.submit();
    }
  } else if (form.matches("form.leave") && !form.dataset.sure) {
    event.preventDefault();
    let left = 0;
    try { left = await flush(); } catch { /* nothing can wait where nothing can be kept */ }
    if (left && !confirm("A report that a ticket is done, or a photo, was not sent yet, and would be lost. Log out?")) return;
    try { await caches.delete("tickets"); indexedDB.deleteDatabase("fleet-runner"); } catch { /* the answer says it again */ }
    form.dataset.sure = "yes";
    form.submit();
  }
});

if (keeps) addEventListener("online", flush);
if (keeps) for (const each of document.querySelectorAll("[data-photo]")) {
  each.hidden = false;
  each.addEventListener("change", (event) => { if (event.target.matches(".photo")) photoOf(event.target); });
}

async function forget(kept) {
  for (const each of await kept.keys()) {
    const found = await kept.match(each);
    if (Date.now() - Number(found?.headers.get("x-kept-at")) > LASTS) await kept.delete(each);
  }
}

async function begin() {
  if (localStorage.getItem("who") !== me) {
    await caches.delete("tickets");
    localStorage.setItem("who", me);
  }
  if (await caches.has("tickets")) await forget(await caches.open("tickets"));
  const others = (await reports("readonly", (all) => all.getAll())).filter((each) => each.who !== me);
  for (const each of others) await reports("readwrite", (all) => all.delete(each.key));
  await flush();
  if (!ticket || !navigator.serviceWorker) return;
  await navigator.serviceWorker.register("/tickets/worker.js", { scope: "/tickets/" });
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) {
    await new Promise((resolve) => { navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }); });
  }
  const mine = [`/tickets/${ticket}`, `/tickets/${ticket}/steps`];
  const files = [...document.querySelectorAll("link[rel=stylesheet], script[src], img")].map((each) => each.href || each.src);
  await Promise.all([...mine, ...files].map((address) => fetch(address).catch(() => null)));
  document.querySelector("[data-ticket]").dataset.kept = "yes";
}

if (keeps) begin().catch(() => null);
