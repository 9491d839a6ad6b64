// A browser holds six connections to a site, over all of its windows: one that nobody looks at gives its stream back.
"use strict";

const streams = new Map();

document.addEventListener("htmx:sseOpen", (event) => streams.set(event.target, event.detail.source));

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
