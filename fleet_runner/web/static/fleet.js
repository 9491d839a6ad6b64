// Pages work without this file. It says when a part could not be loaded, and keeps what a person has opened open.
"use strict";

document.addEventListener("htmx:responseError", (event) => say(event.detail.xhr.status));
document.addEventListener("htmx:sendError", () => say(0));
document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) say(null); });

function say(status) {
  let note = document.getElementById("trouble");
  if (status === null) { if (note) note.remove(); return; }
  if (status === 401) { location.reload(); return; }
  if (!note) {
    note = document.createElement("p");
    note.id = "trouble";
    note.className = "note bad";
    note.setAttribute("role", "alert");
    document.getElementById("content").prepend(note);
  }
  note.textContent = status === 0
    ? "fleet-runner cannot be reached; what you see may be old."
    : `This could not be brought up to date (${status}); what you see may be old.`;
}
