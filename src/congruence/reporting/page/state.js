// --- what is chosen: kept in the address, so that a reload or a mailed link shows the same ---------------------------
const fresh = () => ({
  measure: 0, hidden: new Set(), back: { trivial: false }, distinct: D.distinct, compare: D.first.slice(), open: false, colour: 0,
  search: "", sort: ["agreement", -1], unfolded: false, disputed: false, selected: null, point: null,
});
const state = fresh();
const ranges = (numbers) => { // 1,2,3,7 → 1-3.7
  const sorted = [...numbers].sort((a, b) => a - b), parts = [];
  for (const x of sorted) { const last = parts[parts.length - 1]; if (last && last[1] === x - 1) last[1] = x; else parts.push([x, x]); }
  return parts.map(([a, b]) => a === b ? a : `${a}-${b}`).join(".");
};
const numbers = (text, most) => text.split(".").filter(Boolean).flatMap((part) => {
  const [a, b = a] = part.split("-").map(Number);
  return Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b < most && b >= a ? range(b - a + 1).map((i) => a + i) : [];
});
const inAddress = () => {
  const held = new URLSearchParams();
  if (state.measure) held.set("measure", state.measure);
  if (state.hidden.size) held.set("hide", ranges(state.hidden));
  if (state.back.trivial) held.set("trivial", "back");
  if (state.distinct !== D.distinct) held.set("count", state.distinct ? "distinct" : "all");
  if (state.open || state.compare.join() !== D.first.join()) held.set(state.open ? "compare" : "pair", state.compare.join("."));
  if (state.colour) held.set("colour", state.colour);
  if (state.search) held.set("search", state.search);
  if (state.sort.join() !== "agreement,-1") held.set("sort", state.sort.join("."));
  if (state.disputed) held.set("points", "disputed");
  if (state.selected && state.selected.size <= 5000) held.set("selected", ranges(state.selected));
  if (state.point !== null) held.set("point", state.point);
  return held.toString();
};
const remember = () => { if (location.protocol !== "about:") history.replaceState(null, "", "#" + inAddress()); };
const recall = () => {
  Object.assign(state, fresh());
  const text = location.hash.slice(1);
  if (!text.includes("=")) return;
  const held = new URLSearchParams(text), place = (key) => { const x = Number(held.get(key)); return held.has(key) && Number.isInteger(x) && x >= 0 ? x : null; };
  if (place("measure") !== null && place("measure") < M.length) state.measure = place("measure");
  if (held.has("hide")) state.hidden = new Set(numbers(held.get("hide"), L));
  state.back.trivial = held.get("trivial") === "back";
  if (held.has("count")) state.distinct = held.get("count") === "distinct";
  for (const key of ["compare", "pair"]) if (held.has(key)) {
    const found = held.get(key).split(".").map(Number).filter((i) => Number.isInteger(i) && i >= 0 && i < L).slice(0, 5);
    if (found.length >= 2) { state.compare = found; state.open = key === "compare"; }
  }
  state.colour = place("colour") || 0;
  state.search = held.get("search") || "";
  if (/^\w+\.-?1$/.test(held.get("sort") || "")) { const [by, way] = held.get("sort").split("."); state.sort = [by, Number(way)]; }
  state.disputed = held.get("points") === "disputed";
  if (held.has("selected")) state.selected = new Set(numbers(held.get("selected"), D.n));
  if (place("point") !== null && place("point") < D.n) state.point = place("point");
};
