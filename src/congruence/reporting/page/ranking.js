// --- 4. the reference -------------------------------------------------------------------------------------------
const drawAgainst = (all) => {
  if (!D.against) return;
  const rows = all ? D.against.rows : D.against.rows.slice(0, 25), m = M[0];
  const known = D.against.rows.flatMap((r) => [r.values[0], ...(r.interval || [])]).filter((x) => x !== null);
  const lo = Math.min(0, ...known), hi = m.better === "higher" && Number.isFinite(m.high) ? m.high : Math.max(...known, 1e-9), W = 180;
  const x = (t) => 6 + (t - lo) / ((hi - lo) || 1) * (W - 12);
  const plot = (r) => {
    if (r.values[0] === null) return "undefined";
    return svg("svg", { width: W, height: 18, viewBox: `0 0 ${W} 18`, role: "img", "aria-label": fmt(r.values[0]) }, svg("line", { x1: 6, x2: W - 6, y1: 9, y2: 9, class: "axis" }),
      lo < 0 ? svg("line", { x1: x(0), x2: x(0), y1: 2, y2: 16, class: "axis" }) : null,
      r.interval ? svg("line", { x1: x(r.interval[0]), x2: x(r.interval[1]), y1: 9, y2: 9, class: "interval" }) : null, svg("circle", { cx: x(r.values[0]), cy: 9, r: 4.5, class: "dot" }));
  };
  const has = { interval: D.against.rows.some((r) => r.interval), p: D.against.rows.some((r) => r.p !== null), note: D.against.rows.some((r) => r.note) };
  const head = ["clustering", "k", m.key, "", ...(has.interval ? ["95% interval"] : []), ...(has.p ? ["p", "corrected"] : []), ...M.slice(1).map((o) => o.key)];
  fill($("against"), table(head, rows.map((r) => [button(short(D.names[r.member], 44), () => { choose(D.reference, r.member); $("pair").scrollIntoView(); }, { class: "link", title: "Look at this pair" }), D.ks[r.member], fmt(r.values[0]), plot(r),
    ...(has.interval ? [r.interval ? `${r.interval[0].toFixed(3)} to ${r.interval[1].toFixed(3)}` : el("span", { class: "muted", title: r.note }, "–")] : []), ...(has.p ? [pval(r.p), pval(r.pc)] : []), ...r.values.slice(1).map(fmt)]), { label: "Agreement with the reference" }),
    rows.length < D.against.rows.length ? button(`Show all ${D.against.rows.length}`, () => drawAgainst(true)) : null);
};
