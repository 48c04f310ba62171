// Small drawings: bars for scores, lines for what changes with time.
import { h } from "./dom.js";
import { number } from "./words.js";

/** A labelled bar from 0 to `most`. */
export function bar(label, value, most = 1) {
  const filled = h("span", { class: "bar-fill" });
  filled.style.width = `${Math.max(0, Math.min(1, most ? value / most : 0)) * 100}%`;
  return h("div", { class: "bar" }, h("span", { class: "bar-label" }, label),
    h("span", { class: "bar-track", "aria-hidden": "true" }, filled), h("span", { class: "bar-value" }, number(value)));
}

const WIDTH = 320;
const HEIGHT = 80;

/** A line of points over time; the newest is at the right. */
export function line(title, given, unit = "") {
  const points = given.length === 1 ? [given[0], given[0]] : given; // one look is a level, not a dot
  const most = Math.max(...points, 0) || 1;
  const place = (value, index) =>
    `${(index / (points.length - 1)) * WIDTH},${HEIGHT - 4 - (value / most) * (HEIGHT - 12)}`;
  const latest = points.at(-1);
  const words = `${number(latest ?? 0)}${unit}`;
  return h("figure", { class: "chart" },
    h("figcaption", {}, h("span", {}, title), h("strong", {}, words)),
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${words}`, preserveAspectRatio: "none" },
      h("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 4, y2: HEIGHT - 4, class: "chart-floor" }),
      h("polyline", { points: points.map(place).join(" "), class: "chart-line" })));
}
