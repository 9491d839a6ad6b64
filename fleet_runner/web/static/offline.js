// Tickets without a connection: what somebody reports as done waits in this browser, and is sent once there is one.
// Each report has a key of its own: sent twice, it counts once. Nothing of somebody else who used this browser stays.
"use strict";

const me = document.body.dataset.who;
const keeps = me && window.isSecureContext && navigator.locks && window.caches && window.indexedDB;
const LASTS = 12 * 3600 * 1000; // milliseconds, as long as a session
const LONGEST = 500; // characters
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

const waiting = async () => (await reports("readonly", (all) => all.getAll())).filter((each) => each.who === me);

async function send() {
  const told = [];
  for (const each of await waiting()) {
    let answer;
    try {
      answer = await fetch(`/tickets/${each.number}/done`, {
        method: "POST",
        headers: { accept: "application/json", ...JSON.parse(document.body.getAttribute("hx-headers")) },
        body: new URLSearchParams({ key: each.key, words: each.words, waited: Math.max(0, Date.now() / 1000 - each.pressed) }),
      });
    } catch {
      break; // no connection
    }
    // An answer of somebody else, such as the page of a network that wants a login, is none.
    const said = answer.ok && !answer.redirected ? await answer.json().catch(() => null) : null;
    if (said) {
      told.push(said.sentence);
      await reports("readwrite", (all) => all.delete(each.key));
    } else {
      told.push(answer.status === 401 || answer.status === 403
        ? `Ticket ${each.number}: log in again to send your report.`
        : `Ticket ${each.number}: your report could not be sent (${answer.status}); it is kept.`);
    }
  }
  return told;
}

async function flush() {
  const told = await navigator.locks.request("reports", send);
  const left = (await waiting()).map((each) => each.number);
  if (left.length) told.push(`Not sent yet: done, of ticket ${left.join(", ")}. It waits in this browser for a connection.`);
  note(told);
  return left.length;
}

function note(sentences) {
  let shown = document.getElementById("reports");
  if (!sentences.length && !shown) return;
  if (!shown) {
    shown = document.createElement("div");
    shown.id = "reports";
    shown.setAttribute("role", "status");
    document.getElementById("content").prepend(shown);
  }
  shown.replaceChildren(...sentences.map((each) => {
    const line = document.createElement("p");
    line.className = "note";
    line.textContent = each;
    return line;
  }));
}

async function report(form) {
  const given = new FormData(form);
  // A kept page may be reported from again, so its own key is not taken; what still waits for this ticket is one report.
  const before = (await waiting()).find((one) => one.number === ticket);
  const words = [...new Set([before?.words, given.get("words")])].filter(Boolean).join("; ").slice(0, LONGEST);
  const each = { key: before?.key ?? crypto.randomUUID(), who: me, number: ticket, words, pressed: Date.now() / 1000 };
  form.elements.key.value = each.key;
  await reports("readwrite", (all) => all.put(each));
  if (await flush()) return;
  if (location.pathname === `/tickets/${ticket}`) location.reload();
  else location.href = `/tickets/${ticket}#proof`;
}

if (keeps) document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("form[data-report]")) {
    event.preventDefault();
    try { await report(form); } catch { form.submit(); }
  } else if (form.matches("form.leave") && !form.dataset.sure) {
    event.preventDefault();
    let left = 0;
    try { left = await flush(); } catch { /* nothing can wait where nothing can be kept */ }
    if (left && !confirm("A report that a ticket is done was not sent yet, and would be lost. Log out?")) return;
    try { await caches.delete("tickets"); indexedDB.deleteDatabase("fleet-runner"); } catch { /* the answer says it again */ }
    form.dataset.sure = "yes";
    form.submit();
  }
});

if (keeps) addEventListener("online", flush);

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
