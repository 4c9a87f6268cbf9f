// What the pages do beyond links and forms. Everything works without it, less smoothly.
import { draw } from "./charts.js";

let on = (name, react, early) => document.addEventListener(name, react, early);
let root = document.documentElement;
let dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
}

on("click", event => {
  let button = event.target.closest("#theme");
  if (!button) return;
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("newscrawl-theme", root.dataset.theme); } catch (_) { /* closed */ }
  draw(true);
});
dark.addEventListener("change", () => draw(true));

// A number of days and a first and last day exclude each other.
on("change", event => {
  let form = event.target.closest(".filters");
  if (!form) return;
  if (event.target.name === "days") {
    form.querySelectorAll("[type=date]").forEach(input => input.value = "");
  } else if (event.target.type === "date") {
    form.querySelectorAll("[name=days]").forEach(input => input.checked = false);
  }
}, true);

// A day is asked for when its field is left, or at once if it was picked or confirmed with Enter:
// one that is typed is a day at each digit of its year. A day that is begun before the other is
// answered is asked for with it, since the answer would replace its field.
function daysChanged(form) {
  return [...form.querySelectorAll("[type=date]")].some(
    input => input.value !== input.defaultValue && !input.validity.badInput);
}
function onDays(name, react) {
  on(name, event => {
    let form = event.target.type === "date" && event.target.closest(".filters");
    if (form) react(event, form);
  }, true);
}
onDays("keydown", event => event.target.dataset.typed = "");
onDays("change", event => { if ("typed" in event.target.dataset) event.stopPropagation(); });
onDays("focusin", (_, form) => { if (daysChanged(form)) htmx.trigger(form, "htmx:abort"); });
onDays("focusout", (event, form) => {
  delete event.target.dataset.typed;
  if (daysChanged(form)) htmx.trigger(form, "change");
});

// Several names are written one after another: only Enter and the button compare them.
on("change", event => {
  if (event.target.closest(".names-field")) event.stopPropagation();
}, true);

// The last field of names is followed by another one, once something is written into it.
on("input", event => {
  let field = event.target.closest(".names-field input"), fields = document.querySelectorAll(".names-field input");
  if (!field || field !== fields[fields.length - 1] || fields.length >= 6) return;
  let next = field.cloneNode();
  next.value = "";
  next.ariaLabel = "Company " + (fields.length + 1);
  field.after(next);
});

// On a phone most filters are folded, over the pages until they are unfolded.
function showFolds() {
  document.querySelectorAll(".unfold").forEach(
    button => button.ariaExpanded = root.classList.contains("filters-open"));
}
on("click", event => {
  if (!event.target.closest(".unfold")) return;
  root.classList.toggle("filters-open");
  showFolds();
});

// The time zones that the browser knows, offered once somebody is about to write one.
on("focusin", event => {
  let list = event.target.list;
  if (event.target.name !== "zone" || !list || list.options.length || !Intl.supportedValuesOf) return;
  Intl.supportedValuesOf("timeZone").forEach(name => list.append(new Option(name, name)));
});

// Fields left as they are stay out of the address.
on("htmx:configRequest", event => {
  let values = event.detail.parameters;
  if (event.detail.verb !== "get") return;
  Object.keys(values).forEach(name => { if (values[name] === "") delete values[name]; });
});

// A line of error where a form was sent in vain, beside the button if several share the form.
let UNREACHED = "The server can't be reached: check your connection, and try again.";
function addFault(place, text) {
  let line = place.appendChild(document.createElement("span"));
  line.className = "notice bad";
  line.setAttribute("role", "alert");
  line.textContent = text;
  line.scrollIntoView({ block: "nearest" });
}
function removeFaults(form) {
  form.querySelectorAll("span[role=alert]").forEach(line => line.remove());
}
on("htmx:sendError", event => {
  let form = event.detail.elt.closest("form");
  if (!form) return;
  let sent = event.detail.requestConfig, button = sent.triggeringEvent?.submitter;
  removeFaults(form);
  addFault(button?.closest("p, li, h1") || form, (sent.verb === "get" ? "Not loaded. " : "Not saved. ") + UNREACHED);
});

// A form that was sent asks for nothing more: a new page is coming, which would cut it off.
on("submit", event => {
  if (!event.defaultPrevented) event.target.dataset.sent = "";
});
on("htmx:beforeRequest", event => {
  if ("sent" in event.detail.elt.dataset) event.preventDefault();
});
addEventListener("pageshow", () => {
  document.querySelectorAll("[data-sent]").forEach(form => delete form.dataset.sent);
});

// Words that are selected in an article go to the form for mentions that were missed. The server
// counts characters as code points.
function offsetIn(node, offset) {
  let element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
  let piece = element.closest("[data-at]");
  if (!piece) return null;
  let before = document.createRange();
  before.selectNodeContents(piece);
  before.setEnd(node, offset);
  let at = piece.dataset.at.split(":");
  return { section: at[0], start: Number(at[1]) + [...before.toString()].length };
}
on("selectionchange", () => {
  let card = document.querySelector(".missing"), form = card?.querySelector("form:has([name=missed])");
  let selection = document.getSelection();
  if (!form || card.contains(document.activeElement)) return;
  let range = selection.rangeCount ? selection.getRangeAt(0) : null;
  let words = range ? range.toString() : "";
  let place = words.trim() && !words.trim().includes("\n") && words.length <= 120
    ? offsetIn(range.startContainer, range.startOffset) : null;
  card.classList.toggle("ready", Boolean(place));
  form.elements.missed.value = place ? words.trim() : "";
  form.elements.place.value = place
    ? place.section + ":" + (place.start + [...words].length - [...words.trimStart()].length)
    : "";
});
on("input", event => {
  if (event.target.name === "missed") event.target.form.elements.place.value = "";
});

// The proof of a number opens over the page that shows it. Its own links of pages stay there.
function panel() {
  let dialog = document.getElementById("panel");
  if (dialog) return dialog;
  dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.id = "panel";
  dialog.setAttribute("aria-label", "Proof of the number");
  dialog.append(document.createElement("form"), document.createElement("div"));
  dialog.firstChild.method = "dialog";
  let button = dialog.firstChild.appendChild(document.createElement("button"));
  button.textContent = "Close";
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    if (entered) history.back();
    if (corrected) focusNumber();
    corrected = false;
  });
  return dialog;
}
async function show(address, form) {
  let answer = await fetch(address, { method: form ? "POST" : "GET", body: form });
  if (!form && (!answer.ok || answer.redirected)) throw new Error(answer.status);
  let page = new DOMParser().parseFromString(await answer.text(), "text/html");
  let dialog = panel(), proof = page.getElementById("proof");
  if (!proof) throw new Error(refusal(answer.status, page));
  dialog.lastChild.replaceChildren(proof);
  if (!dialog.open) dialog.showModal();
  // The number takes the place of a cure in the history: it can't be made twice.
  if (!form || address.endsWith("/cure")) enter(form ? opened : address);
  let part = address.split("#")[1];
  let heading = dialog.querySelector(part ? "#" + CSS.escape(part) : "h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  dialog.scrollTop = 0;
  if (part) heading.scrollIntoView();
}
on("click", event => {
  let link = event.target.closest("a.proof");
  let elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
  if (!link || elsewhere || link.closest("main .proof-page")) return;
  event.preventDefault();
  if (!link.closest("#panel")) opened = link.getAttribute("href");
  link.setAttribute("aria-busy", "true");
  show(link.href).catch(() => location.href = link.href).finally(() => link.removeAttribute("aria-busy"));
});

// An open panel has its own entry in the history: Back closes it, and leads back to it from a page
// that was opened there. htmx would load the whole page again.
let entered = false;
function enter(address) {
  history[entered ? "replaceState" : "pushState"]({ proof: address, opened }, "");
  entered = true;
}
function follow(state) {
  entered = Boolean(state?.proof);
  if (!entered) {
    if (panel().open) panel().close();
    return;
  }
  opened = state.opened;
  show(state.proof).catch(() => location.href = state.proof);
}
addEventListener("popstate", event => {
  if (!entered && !event.state?.proof) return;
  event.stopImmediatePropagation();
  follow(event.state);
}, true);

// A correction in the panel is sent from there, and the page below it is renewed. One that fails
// leaves the panel as it is, with a line below its sentence.
let opened = null, corrected = false;
function refusal(status, page) {
  let said = page.querySelector("main .message p");
  if (said) return said.textContent;
  if (status === 401) return "You are signed out. Reload the page, sign in, and try again.";
  if (status === 403) return "You may only read here. Sign in with a token that may edit.";
  return "The server answered " + status + ". Try again, or reload the page.";
}
on("submit", event => {
  let form = event.target;
  if (!form.closest("#panel .proof-page")) return;
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  removeFaults(form);
  show(form.action, new URLSearchParams(new FormData(form, event.submitter))).then(renew, error => {
    // Only fetch fails with a TypeError.
    addFault(form, "Not saved. " + (error instanceof TypeError ? UNREACHED : error.message));
  }).finally(() => form.ariaBusy = "false");
});
function focusNumber() {
  document.querySelector('a.proof[href="' + CSS.escape(opened) + '"]')?.focus();
}
function renew() {
  corrected = true;
  let unfolded = [...document.querySelectorAll("#content details")].map(each => each.open);
  let top = scrollY;
  let swap = { target: "#content", select: "#content", swap: "outerHTML" };
  htmx.ajax("GET", location.pathname + location.search, swap).then(() => {
    document.querySelectorAll("#content details").forEach((each, i) => each.open = Boolean(unfolded[i]));
    scrollTo(0, top);
    if (!panel().open) focusNumber();
  });
}

// After a swap the keyboard stays where it was, unless it has gone elsewhere meanwhile.
let focused = null;
on("htmx:beforeSwap", () => {
  let element = document.activeElement;
  let { name, type, value } = element || {};
  if (!name) { focused = null; return; }
  let among = [...document.getElementsByName(name)].indexOf(element);
  focused = { name, among, value: /radio|submit/.test(type) ? value : null };
});
on("htmx:afterSettle", () => {
  draw(false);
  showFolds();
  if (!focused || document.activeElement !== document.body) return;
  let { name, among, value } = focused;
  [...document.getElementsByName(name)].find((field, i) => value === null ? i === among : field.value === value)
    ?.focus({ preventScroll: true });
});

on("DOMContentLoaded", () => {
  draw(false);
  if (history.state?.proof) follow(history.state);
});
