// What the pages do beyond links and forms. Everything works without it, less smoothly.
(function () {
  "use strict";

  var root = document.documentElement;
  var dark = matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("#theme");
    if (!button) return;
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("newscrawl-theme", root.dataset.theme); } catch (_) { /* closed */ }
    newscrawlCharts.draw(document, true);
  });
  dark.addEventListener("change", function () { newscrawlCharts.draw(document, true); });

  // A number of days and a first and last day exclude each other.
  document.addEventListener("change", function (event) {
    var form = event.target.closest(".filters");
    if (!form) return;
    if (event.target.name === "days") {
      form.querySelectorAll("[type=date]").forEach(function (input) { input.value = ""; });
    } else if (event.target.type === "date") {
      form.querySelectorAll("[name=days]").forEach(function (input) { input.checked = false; });
    }
  }, true);

  // A day is asked for when its field is left, or at once if it was picked or confirmed with Enter:
  // one that is typed is a day at each digit of its year. A day that is begun before the other is
  // answered is asked for with it, since the answer would replace its field.
  function daysChanged(form) {
    return Array.from(form.querySelectorAll("[type=date]")).some(function (input) {
      return input.value !== input.defaultValue && !input.validity.badInput;
    });
  }
  function onDays(name, react) {
    document.addEventListener(name, function (event) {
      var form = event.target.type === "date" && event.target.closest(".filters");
      if (form) react(event, form);
    }, true);
  }
  onDays("keydown", function (event) { event.target.dataset.typed = ""; });
  onDays("change", function (event) { if ("typed" in event.target.dataset) event.stopPropagation(); });
  onDays("focusin", function (_, form) { if (daysChanged(form)) htmx.trigger(form, "htmx:abort"); });
  onDays("focusout", function (event, form) {
    delete event.target.dataset.typed;
    if (daysChanged(form)) htmx.trigger(form, "change");
  });

  // Several names are written one after another: only Enter and the button compare them.
  document.addEventListener("change", function (event) {
    if (event.target.closest(".names-field")) event.stopPropagation();
  }, true);

  // The last field of names is followed by another one, once something is written into it.
  document.addEventListener("input", function (event) {
    var field = event.target.closest(".names-field input"), fields = document.querySelectorAll(".names-field input");
    if (!field || field !== fields[fields.length - 1] || fields.length >= 6) return;
    var next = field.cloneNode();
    next.value = "";
    next.ariaLabel = "Company " + (fields.length + 1);
    field.after(next);
  });

  // On a phone most filters are folded, over the pages until they are unfolded.
  function showFolds() {
    document.querySelectorAll(".unfold").forEach(function (button) {
      button.setAttribute("aria-expanded", String(root.classList.contains("filters-open")));
    });
  }
  document.addEventListener("click", function (event) {
    if (!event.target.closest(".unfold")) return;
    root.classList.toggle("filters-open");
    showFolds();
  });

  // The time zones that the browser knows, offered once somebody is about to write one.
  document.addEventListener("focusin", function (event) {
    var list = event.target.list;
    if (event.target.name !== "zone" || !list || list.options.length || !Intl.supportedValuesOf) return;
    Intl.supportedValuesOf("timeZone").forEach(function (name) { list.append(new Option(name, name)); });
  });

  // Fields left as they are stay out of the address.
  document.addEventListener("htmx:configRequest", function (event) {
    var values = event.detail.parameters;
    if (event.detail.verb !== "get") return;
    Object.keys(values).forEach(function (name) { if (values[name] === "") delete values[name]; });
  });

  // A line of error where a form was sent in vain, beside the button if several share the form.
  var UNREACHED = "The server can't be reached: check your connection, and try again.";
  function addFault(place, text) {
    var line = place.appendChild(document.createElement("span"));
    line.className = "notice bad";
    line.setAttribute("role", "alert");
    line.textContent = text;
    line.scrollIntoView({ block: "nearest" });
  }
  function removeFaults(form) {
    form.querySelectorAll("span[role=alert]").forEach(function (line) { line.remove(); });
  }
  document.addEventListener("htmx:sendError", function (event) {
    var form = event.detail.elt.closest("form");
    if (!form) return;
    var sent = event.detail.requestConfig, button = (sent.triggeringEvent || {}).submitter;
    removeFaults(form);
    addFault(button && button.closest("p, li, h1") || form, (sent.verb === "get" ? "Not loaded. " : "Not saved. ") + UNREACHED);
  });

  // A form that was sent asks for nothing more: a new page is coming, which would cut it off.
  document.addEventListener("submit", function (event) {
    if (!event.defaultPrevented) event.target.dataset.sent = "";
  });
  document.addEventListener("htmx:beforeRequest", function (event) {
    if ("sent" in event.detail.elt.dataset) event.preventDefault();
  });
  addEventListener("pageshow", function () {
    document.querySelectorAll("[data-sent]").forEach(function (form) { delete form.dataset.sent; });
  });

  // Words that are selected in an article go to the form for mentions that were missed. The server
  // counts characters as code points.
  function offsetIn(node, offset) {
    var element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    var piece = element.closest("[data-at]");
    if (!piece) return null;
    var before = document.createRange();
    before.selectNodeContents(piece);
    before.setEnd(node, offset);
    var at = piece.dataset.at.split(":");
    return { section: at[0], start: Number(at[1]) + Array.from(before.toString()).length };
  }
  document.addEventListener("selectionchange", function () {
    var card = document.querySelector(".missing");
    var form = card && card.querySelector("form [name=missed]") && card.querySelector("form");
    var selection = document.getSelection();
    if (!form || card.contains(document.activeElement)) return;
    var range = selection.rangeCount ? selection.getRangeAt(0) : null;
    var words = range ? range.toString() : "";
    var place = words.trim() && !words.trim().includes("\n") && words.length <= 120
      ? offsetIn(range.startContainer, range.startOffset) : null;
    card.classList.toggle("ready", Boolean(place));
    form.elements.missed.value = place ? words.trim() : "";
    form.elements.place.value = place
      ? place.section + ":" + (place.start + Array.from(words).length - Array.from(words.trimStart()).length)
      : "";
  });
  document.addEventListener("input", function (event) {
    if (event.target.name === "missed") event.target.form.elements.place.value = "";
  });

  // The proof of a number opens over the page that shows it. Its own links of pages stay there.
  function panel() {
    var dialog = document.getElementById("panel");
    if (dialog) return dialog;
    dialog = document.body.appendChild(document.createElement("dialog"));
    dialog.id = "panel";
    dialog.setAttribute("aria-label", "Proof of the number");
    dialog.append(document.createElement("form"), document.createElement("div"));
    dialog.firstChild.method = "dialog";
    var button = dialog.firstChild.appendChild(document.createElement("button"));
    button.textContent = "Close";
    dialog.addEventListener("click", function (event) { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", function () {
      if (entered) history.back();
      if (corrected) focusNumber();
      corrected = false;
    });
    return dialog;
  }
  function show(address, form) {
    return fetch(address, { credentials: "same-origin", method: form ? "POST" : "GET", body: form }).then(function (answer) {
      if (!form && (!answer.ok || answer.redirected)) throw new Error(String(answer.status));
      return answer.text().then(function (text) { return { status: answer.status, text: text }; });
    }).then(function (answer) {
      var page = new DOMParser().parseFromString(answer.text, "text/html");
      var dialog = panel(), proof = page.getElementById("proof");
      if (!proof) throw new Error(refusal(answer.status, page));
      dialog.lastChild.replaceChildren(proof);
      if (!dialog.open) dialog.showModal();
      if (!form) enter(address);
      var part = address.split("#")[1];
      var heading = dialog.querySelector(part ? "#" + CSS.escape(part) : "h1");
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      dialog.scrollTop = 0;
      if (part) heading.scrollIntoView();
    });
  }
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a.proof");
    var elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
    if (!link || elsewhere || link.closest("main .proof-page") || !window.HTMLDialogElement) return;
    event.preventDefault();
    if (!link.closest("#panel")) opened = link.getAttribute("href");
    link.setAttribute("aria-busy", "true");
    show(link.href).catch(function () { location.href = link.href; }).finally(function () {
      link.removeAttribute("aria-busy");
    });
  });

  // An open panel has its own entry in the history: Back closes it, and leads back to it from a page
  // that was opened there. htmx would load the whole page again.
  var entered = false;
  function enter(address) {
    history[entered ? "replaceState" : "pushState"]({ proof: address, opened: opened }, "");
    entered = true;
  }
  function follow(state) {
    entered = Boolean(state && state.proof);
    if (!entered) {
      if (panel().open) panel().close();
      return;
    }
    opened = state.opened;
    show(state.proof).catch(function () { location.href = state.proof; });
  }
  addEventListener("popstate", function (event) {
    if (!entered && !(event.state && event.state.proof)) return;
    event.stopImmediatePropagation();
    follow(event.state);
  }, true);

  // A correction in the panel is sent from there, and the page below it is renewed. One that fails
  // leaves the panel as it is, with a line below its sentence.
  var opened = null, corrected = false;
  function refusal(status, page) {
    var said = page.querySelector("main .message p");
    if (said) return said.textContent;
    if (status === 401) return "You are signed out. Reload the page, sign in, and try again.";
    if (status === 403) return "You may only read here. Sign in with a token that may edit.";
    return "The server answered " + status + ". Try again, or reload the page.";
  }
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (!form.closest("#panel .proof-page")) return;
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    removeFaults(form);
    show(form.action, new URLSearchParams(new FormData(form, event.submitter))).then(renew, function (error) {
      // Only fetch fails with a TypeError.
      addFault(form, "Not saved. " + (error instanceof TypeError ? UNREACHED : error.message));
    }).finally(function () { form.ariaBusy = "false"; });
  });
  function focusNumber() {
    var link = document.querySelector('a.proof[href="' + CSS.escape(opened) + '"]');
    if (link) link.focus();
  }
  function renew() {
    corrected = true;
    var unfolded = Array.from(document.querySelectorAll("#content details"), function (each) { return each.open; });
    var top = scrollY;
    var swap = { target: "#content", select: "#content", swap: "outerHTML" };
    htmx.ajax("GET", location.pathname + location.search, swap).then(function () {
      document.querySelectorAll("#content details").forEach(function (each, i) { each.open = Boolean(unfolded[i]); });
      scrollTo(0, top);
      if (!panel().open) focusNumber();
    });
  }

  // After a swap the keyboard stays where it was, unless it has gone elsewhere meanwhile.
  var focused = null;
  document.addEventListener("htmx:beforeSwap", function () {
    var element = document.activeElement;
    if (!element || !element.name) { focused = null; return; }
    var among = Array.prototype.indexOf.call(document.getElementsByName(element.name), element);
    focused = { name: element.name, value: /radio|submit/.test(element.type) ? element.value : null, among: among };
  });
  document.addEventListener("htmx:afterSettle", function (event) {
    newscrawlCharts.draw(document, false);
    showFolds();
    if (!focused || document.activeElement !== document.body) return;
    var fields = document.getElementsByName(focused.name);
    for (var i = 0; i < fields.length; i++) {
      if (focused.value === null ? i === focused.among : fields[i].value === focused.value) {
        fields[i].focus({ preventScroll: true });
        break;
      }
    }
  });

  document.addEventListener("DOMContentLoaded", function () {
    newscrawlCharts.draw(document, false);
    if (history.state && history.state.proof) follow(history.state);
  });
})();
