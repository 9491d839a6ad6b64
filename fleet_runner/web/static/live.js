// A browser holds six connections to a site, over all of its windows: one that nobody looks at gives its stream back.
// Where nothing more is heard, or what is told is old, it says so.
"use strict";

const streams = new Map();
const PATIENCE = 6000; // milliseconds without a stream: each ends now and then, and comes back by itself
let lost = null;

document.addEventListener("htmx:sseOpen", (event) => {
  streams.set(event.target, event.detail.source);
  event.detail.source.addEventListener("stale", (told) => old(told.data === "yes"
    ? "The store cannot be read now, so what moves is as it was last seen." : null));
  old(null);
});

document.addEventListener("htmx:sseError", () => {
  lost ??= setTimeout(() => old("The connection is lost, so what moves is as it was last seen."), PATIENCE);
});

document.addEventListener("htmx:sseClose", () => old(null));

function old(sentence) {
  clearTimeout(lost);
  lost = null;
  let note = document.getElementById("stale");
  if (sentence === null) { if (note) note.remove(); return; }
  if (!note) {
    note = document.createElement("p");
    note.id = "stale";
    note.className = "note bad";
    note.setAttribute("role", "alert");
    document.getElementById("content").prepend(note);
  }
  note.textContent = sentence;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    for (const source of streams.values()) source.close();
    return;
  }
  for (const element of streams.keys()) {
    if (!element.isConnected) continue;
    const again = element.cloneNode(true);
    element.replaceWith(again);
    htmx.process(again);
  }
  streams.clear();
});
