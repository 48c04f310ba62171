// Elements from data. Text is only ever set as text, so whatever was remembered can't become markup.
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "path", "rect", "line", "polyline", "circle", "g", "title", "text"]);

/** An element: `h("button", { class: "quiet", onclick: act, disabled: true }, "Pin")`. Null and false children are left out. */
export function h(tag, properties = {}, ...children) {
  const element = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...there(children));
  return element;
}

const there = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** Puts these in the place of what an element holds. */
export const fill = (element, ...children) => element.replaceChildren(...there(children));

export const $ = (selector, within = document) => within.querySelector(selector);

/** The last call of a burst, once it has been quiet for a moment. */
export function settled(act, ms = 150) {
  let waiting;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...given), ms);
  };
}

export function download(name, content, type = "application/json") {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
