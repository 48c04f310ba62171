// Small drawings: bars for scores, bars and lines for what changes with time.
import { h } from "./dom.js";
import { clock, number, t } from "./words.js";

/** A labelled bar from 0 to `most`. */
export function bar(label, value, most = 1, words = number(value)) {
  const filled = h("span", { class: value < 0 ? "bar-fill against" : "bar-fill" }); // what speaks against it has a bar, too
  filled.style.width = `${Math.min(1, most ? Math.abs(value) / most : 0) * 100}%`;
  return h("div", { class: "bar" }, h("span", { class: "bar-label" }, label),
    h("span", { class: "bar-track", "aria-hidden": "true" }, filled), h("span", { class: "bar-value" }, words));
}

const WIDTH = 320;
const HEIGHT = 80;
const TALLEST = HEIGHT - 12;
const SHORTEST_MS = 10 * 60_000; // a server that has just started is not drawn as if it had run for an hour

/** A time that a person can take in: 820 ms, 19.6 s, 3 min. */
function lasting(ms) {
  if (ms < 1000) return `${number(Math.round(ms))} ms`;
  return ms < 90_000 ? `${number(Math.round(ms / 100) / 10)} s` : `${number(Math.round(ms / 60_000))} min`;
}

const WORDS = { count: number, level: number, time: lasting, age: (seconds) => lasting(seconds * 1000), share: (part) => `${number(Math.round(part * 100))} %` };

/** Runs of neighbours that have a value: where nothing was measured, or nobody looked, the line has a gap. */
function runs(points, values) {
  const found = [];
  points.forEach((point, index) => {
    if (values[index] === null) return;
    const joined = index && values[index - 1] !== null && point.from - points[index - 1].to < 2 * (point.to - point.from);
    if (joined && found.length) found.at(-1).push(index);
    else found.push([index]);
  });
  return found;
}

/**
 * One figure over time. `points` have `from` and `to` in milliseconds, oldest first; `values` one for each, null where there is none.
 * What is counted is drawn as bars, everything else as a line.
 */
export function chart(title, { points, values, kind, bad = false }) {
  const measured = values.filter((value) => value !== null);
  const most = Math.max(...measured, 0);
  const words = (value) => (value === null ? "–" : WORDS[kind](value));
  const end = points.at(-1)?.to ?? 0;
  const start = Math.min(points[0]?.from ?? 0, end - SHORTEST_MS);
  const across = (at) => ((at - start) / (end - start)) * WIDTH;
  const up = (value) => (most ? value / most : 0) * TALLEST;
  const style = bad && most ? "bad-line" : "";
  const headline = words(kind === "count" ? measured.reduce((sum, value) => sum + value, 0) : measured.at(-1) ?? null);
  const peak = t("chart.most", { most: words(measured.length ? most : null) });
  const spot = ([x, value]) => `${x.toFixed(1)},${(HEIGHT - 4 - up(value)).toFixed(1)}`;
  const drawn = kind === "count"
    ? points.map(({ from, to }, index) => (values[index] ? h("rect", { class: `chart-bar ${style}`, x: across(from).toFixed(1), width: Math.max(1, across(to) - across(from) - 0.6).toFixed(1), y: (HEIGHT - 4 - up(values[index])).toFixed(1), height: up(values[index]).toFixed(1) }) : null))
    : runs(points, values).map((run) => h("polyline", { class: `chart-line ${style}`, points: [[across(points[run[0]].from), values[run[0]]], ...run.map((index) => [across(points[index].to), values[index]])].map(spot).join(" ") }));
  const middle = h("span", {}, peak);
  const looked = (event) => {
    const at = start + (event.offsetX / event.currentTarget.clientWidth) * (end - start);
    const index = points.findIndex((point) => point.from <= at && at <= point.to);
    middle.textContent = index < 0 ? peak : `${clock(points[index].to)}: ${words(values[index])}`;
  };
  return h("figure", { class: "chart" },
    h("figcaption", {}, h("span", {}, title), h("strong", {}, headline)),
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${headline}. ${peak}`, preserveAspectRatio: "none", onpointermove: looked, onpointerleave: () => { middle.textContent = peak; } },
      h("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 4, y2: HEIGHT - 4, class: "chart-floor" }), drawn),
    points.length ? h("div", { class: "chart-axis", "aria-hidden": "true" }, h("span", {}, clock(start)), middle, h("span", {}, clock(end))) : null);
}
