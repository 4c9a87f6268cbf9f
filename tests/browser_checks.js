// What tests ask of a page in the browser: evaluated there, one function each.
({
  // WCAG 2.2, 1.4.3: texts whose contrast is below 4.5, or 3 for large text.
  faint: function () {
    const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const parse = text => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const ground = e => {
      for (; e; e = e.parentElement) {
        const colour = parse(getComputedStyle(e).backgroundColor);
        if (colour.length < 4 || colour[3] === 1) return colour;
      }
      return [255, 255, 255];
    };
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement;
      if (!text || !e.checkVisibility() || e.closest(".hidden, svg, script, option")) continue;
      const style = getComputedStyle(e), size = parseFloat(style.fontSize);
      const [a, b] = [light(parse(style.color)), light(ground(e))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      if (ratio < (large ? 3 : 4.5)) found.add(`${ratio.toFixed(2)} ${e.className}: ${text}`);
    }
    return [...found];
  },

  // Fields, buttons and links that a screen reader could not name.
  nameless: function () {
    const all = document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a");
    return [...all]
      .filter(e => !(e.labels && e.labels.length) && !e.ariaLabel && !e.textContent.trim())
      .map(e => e.outerHTML);
  },

  // Tables whose columns or rows have no heads.
  headless: function () {
    return [...document.querySelectorAll("table")]
      .filter(t => !t.tHead || !t.tHead.querySelector("th[scope=col]")
        || (t.tBodies[0].rows.length && !t.tBodies[0].querySelector("th[scope=row]")))
      .length;
  },

  // How many of the chart's pixels are not empty.
  painted: function () {
    const canvas = document.querySelector(".canvas canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let number = 0;
    for (let i = 3; i < pixels.length; i += 4) number += pixels[i] > 0;
    return number;
  },

  // What can be clicked, but for radio buttons, of which Tab reaches one of each group.
  clickable: function () {
    const all = "a[href], button, select, textarea, summary, input:not([type=hidden], [type=radio])";
    return [...document.querySelectorAll(all)].filter(e => e.checkVisibility()).length;
  },

  // The focused element: its place in the page, whether it can be seen, whether `clickable` counts
  // it, and its HTML; null where nothing is.
  focused: function () {
    const e = document.activeElement;
    if (!e || e === document.body) return null;
    const outlined = each => each && getComputedStyle(each).outlineStyle !== "none";
    const counted = e.matches("a, button, select, textarea, summary, input:not([type=radio])");
    const place = [...document.querySelectorAll("*")].indexOf(e);
    return [place, Boolean(outlined(e) || outlined(e.nextElementSibling)), counted,
            e.outerHTML.slice(0, 90)];
  },

  // The rel of each link that leads to another host.
  outside: function () {
    return [...document.querySelectorAll("a[href]")].filter(a => a.host !== location.host)
      .map(a => a.rel);
  }
})
