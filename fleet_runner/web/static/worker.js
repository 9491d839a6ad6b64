// Keeps opened tickets with their pictures, so that they are there in a cold aisle without a connection; nothing else.
// The server is asked first, always. What was kept longer than a session lasts is not shown any more.
"use strict";

const KEPT = "tickets";
const LASTS = 12 * 3600 * 1000;
const TICKETS = /^\/tickets\/\d+(\/steps|\/picture\.svg|\/rack\.svg|\/ports\.svg|\/code\.svg|\/photos\/[0-9a-f]{64}\.jpg)?$/;
const FILES = /^\/(static|htmx)\/[\w./-]+$/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin || !(TICKETS.test(pathname) || FILES.test(pathname))) return;
  event.respondWith(answered(event.request, origin + pathname));
});

async function answered(request, address) {
  const part = request.headers.get("hx-request") !== null; // of a page, not a page
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.type === "basic" && !answer.redirected && !part) {
      const stored = new Headers(answer.headers);
      stored.set("x-kept-at", String(Date.now()));
      const copy = new Response(await answer.clone().blob(), { status: answer.status, headers: stored });
      await caches.open(KEPT).then((kept) => kept.put(address, copy)).catch(() => null); // full: what came is shown all the same
    }
    return answer;
  } catch (error) {
    const found = part ? undefined : await (await caches.open(KEPT)).match(address);
    if (found && Date.now() - Number(found.headers.get("x-kept-at")) < LASTS) return found;
    throw error;
  }
}
