// A list of any length that holds only what is in sight. Rows have one height, so the place of each is known without drawing it.
import { h } from "./dom.js";

const SPARE = 8;
const PAGE = 100;
const AT_ONCE = 2; // whoever scrolls far passes many pages: those they stop at are asked for, not all of them
const NARROW = matchMedia("(max-width: 760px)");

/**
 * `fetch(offset, limit)` gives `{ items, total }`; `draw(item)` gives the inside of a row; `open(item)` is called on Enter or click.
 */
export class VirtualList {
  constructor({ label, rowHeight, narrowRowHeight = rowHeight, fetch, draw, open, arrived }) {
    Object.assign(this, { fetch, draw, open, arrived });
    this.rowHeight = NARROW.matches ? narrowRowHeight : rowHeight;
    this.turned = () => this.resize(NARROW.matches ? narrowRowHeight : rowHeight);
    NARROW.addEventListener("change", this.turned);
    this.opened = null;
    this.underway = 0;
    this.closed = false;
    this.items = [];
    this.total = 0;
    this.asked = new Set();
    this.round = 0;
    this.current = 0;
    this.rows = new Map();
    this.inner = h("div", { class: "virtual-inner", role: "list", "aria-label": label });
    this.element = h("div", { class: "virtual", onscroll: () => this.show(), onkeydown: (event) => this.key(event) }, this.inner);
    this.watcher = new ResizeObserver(() => this.show());
    this.watcher.observe(this.element);
  }

  close() { this.closed = true; this.watcher.disconnect(); NARROW.removeEventListener("change", this.turned); this.round += 1; }

  /** Rows of another height; what was on top stays on top. */
  resize(rowHeight) {
    const top = this.element.scrollTop / this.rowHeight;
    this.rowHeight = rowHeight;
    this.redraw();
    this.element.scrollTop = top * rowHeight;
  }

  /** Shows which entry is open beside the list; none with `null`. */
  mark(id) {
    this.opened = id;
    this.rows.forEach((row) => { if (row.dataset.id === id) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current"); });
  }

  async load() {
    this.round += 1;
    this.items = [];
    this.asked.clear();
    this.current = 0;
    this.element.scrollTop = 0;
    await this.page(0);
  }

  /** The same list as it is now, where it stands. */
  async refresh() {
    this.round += 1;
    this.asked.clear();
    await this.page(Math.floor(this.element.scrollTop / this.rowHeight / PAGE), true);
  }

  async page(number, anew = false) {
    if (this.asked.has(number)) return;
    this.asked.add(number);
    const round = this.round;
    this.underway += 1;
    const { items, total } = await this.fetch(number * PAGE, PAGE).catch((problem) => {
      this.asked.delete(number);
      throw problem;
    }).finally(() => { this.underway -= 1; });
    if (round !== this.round) { // another list was asked for in the meantime, and may have waited for this one
      if (!this.closed) this.show();
      return;
    }
    if (anew) this.items = [];
    items.forEach((item, index) => { this.items[number * PAGE + index] = item; });
    this.total = total;
    this.current = Math.max(0, Math.min(this.current, total - 1));
    this.redraw();
    this.arrived?.(total);
  }

  redraw() {
    const held = this.inner.contains(document.activeElement) ? document.activeElement : null;
    const row = held?.closest(".virtual-row");
    const button = row ? [...row.querySelectorAll("button")].indexOf(held) : -1;
    this.rows.forEach((each) => each.remove());
    this.rows.clear();
    this.inner.style.height = `${this.total * this.rowHeight}px`;
    this.show();
    if (row) this.hold(row.dataset.id, button);
  }

  /** Who was on a row, or on a button of it, is there again; where the row is gone, on the one that took its place. */
  hold(id, button) {
    const same = [...this.rows.values()].find((each) => each.dataset.id === id);
    const row = same ?? this.rows.get(Math.min(this.current, this.total - 1));
    ((same && same.querySelectorAll("button")[button]) ?? row)?.focus({ preventScroll: true });
  }

  show() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - SPARE);
    const last = Math.min(this.total, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.rowHeight) + SPARE);
    for (const [index, row] of this.rows) {
      if (index < first || index >= last) { row.remove(); this.rows.delete(index); }
    }
    for (let index = first; index < last; index += 1) {
      if (this.items[index] === undefined) {
        if (this.underway < AT_ONCE) this.page(Math.floor(index / PAGE)).catch(() => {});
      } else if (!this.rows.has(index)) this.place(index);
    }
  }

  place(index) {
    const item = this.items[index];
    const row = h("div", {
      class: "virtual-row", role: "listitem", tabindex: index === this.current ? "0" : "-1",
      "aria-posinset": index + 1, "aria-setsize": this.total, "data-id": item.id, "aria-current": item.id === this.opened ? "true" : null,
      onclick: (event) => { if (!event.target.closest("button")) { this.current = index; this.open(item); } },
      onfocus: () => { this.current = index; },
    }, this.draw(item));
    row.style.transform = `translateY(${index * this.rowHeight}px)`;
    row.style.height = `${this.rowHeight}px`;
    // In the order of the list, so that it is read in that order.
    const after = [...this.rows.entries()].filter(([other]) => other > index).sort(([a], [b]) => a - b)[0];
    this.inner.insertBefore(row, after ? after[1] : null);
    this.rows.set(index, row);
  }

  key(event) {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.target.closest("button, input, textarea")) return;
    if (event.key === "Enter" && this.items[this.current]) this.open(this.items[this.current]);
    else if (event.key in steps) this.focus(this.current + steps[event.key]);
    else return;
    event.preventDefault();
  }

  focus(index) {
    if (!this.total) return;
    this.current = Math.max(0, Math.min(this.total - 1, index));
    const top = this.current * this.rowHeight;
    const bottom = top + this.rowHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    if (bottom > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = bottom - this.element.clientHeight;
    this.show();
    this.rows.forEach((row, each) => row.setAttribute("tabindex", each === this.current ? "0" : "-1"));
    this.rows.get(this.current)?.focus({ preventScroll: true });
  }

  /** Shows an entry as changed, or takes it away (`null`). Gives a function that puts it back. */
  replace(id, changed) {
    const index = this.items.findIndex((item) => item?.id === id);
    if (index < 0) return () => {};
    const before = this.items[index];
    if (changed === null) { this.items.splice(index, 1); this.total -= 1; } else this.items[index] = changed;
    this.redraw();
    this.arrived?.(this.total);
    return () => {
      if (changed === null) { this.items.splice(index, 0, before); this.total += 1; } else this.items[index] = before;
      this.redraw();
      this.arrived?.(this.total);
    };
  }
}
