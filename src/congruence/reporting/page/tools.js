// Draws the report from the data in the page. Text from the file reaches the page as text nodes only, never as markup.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const L = D.names.length;

// --- small tools ---------------------------------------------------------------------------------------------
const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };
const decoded = (x) => {
  const text = atob(x.b), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new KINDS[x.t](bytes.buffer);
};
const lazy = (make) => { let value; return () => value === undefined ? (value = make()) : value; };
const put = (node, attrs, children) => {
  for (const [k, v] of Object.entries(attrs || {})) {
    if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) node.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined) node.append(c);
  return node;
};
const el = (tag, attrs, ...children) => put(document.createElement(tag), attrs, children);
const svg = (tag, attrs, ...children) => put(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, children);
const fill = (node, ...children) => node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined));
const fmt = (x) => x === null || Number.isNaN(x) ? "undefined" : Math.abs(x) < 1e5 ? x.toFixed(4) : x.toPrecision(5);
const whole = (x) => Math.abs(x - Math.round(x)) < 1e-9 ? Math.round(x).toLocaleString("en") : x.toLocaleString("en", { maximumFractionDigits: 1 });
const short = (s, n) => s.length <= n ? s : s.slice(0, n - 1) + "…";
const pval = (p) => p === null ? "–" : p < 0.0001 ? p.toExponential(1) : String(Number(p.toPrecision(2)));
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const download = (name, rows) => {
  const cell = (x) => { const s = x === null || x === undefined || Number.isNaN(x) ? "" : String(x); return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s; };
  const url = URL.createObjectURL(new Blob([rows.map((r) => r.map(cell).join(",")).join("\n") + "\n"], { type: "text/csv" }));
  const a = el("a", { href: url, download: name });
  document.body.append(a); a.click(); a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
const button = (text, act, attrs) => el("button", { type: "button", onclick: act, ...attrs }, text);
const table = (head, rows, attrs) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": (attrs || {}).label || "table" },
  el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c, j) => j === 0 ? el("th", { scope: "row" }, c) : el("td", {}, c)))))));
