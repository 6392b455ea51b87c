"""Evidence on the number of clusters of generated data: `python -m reproductions.choosing_k`."""

# ruff: noqa
import json, sys, time, math
import numpy as np
from congruence.selection import halves, kmeans, mixtures, points as pts
from reproductions import cluster_shapes as cs


def lda_valley(X, labels, k):
    """worst pair valley along Fisher direction, centres = projected means"""
    n, d = X.shape
    groups = [X[labels == j] for j in range(k)]
    if min(len(g) for g in groups) < 3:
        return -1.0
    mu = [g.mean(0) for g in groups]
    cov = [np.cov(g.T, bias=True).reshape(d, d) for g in groups]
    worst = np.inf
    for a in range(k):
        for b in range(a):
            S = (cov[a] * len(groups[a]) + cov[b] * len(groups[b])) / (len(groups[a]) + len(groups[b]))
            S = S + (1e-3 + d / (len(groups[a]) + len(groups[b]))) * np.trace(S) / d * np.eye(d)
            w = np.linalg.solve(S, mu[b] - mu[a])
            pa, pb = groups[a] @ w, groups[b] @ w
            ma, mb = pa.mean(), pb.mean()
            if mb - ma <= 0:
                return -1.0
            u = (np.concatenate([pa, pb]) - ma) / (mb - ma)
            na, nm, nb = [(abs(u - t) < 0.15).sum() for t in (0, 0.5, 1)]
            m = min(na, nb)
            worst = min(worst, (m - nm) / math.sqrt(m + nm + 1))
    return float(worst)


def mst(X, ms=5):
    n = len(X)
    D = np.sqrt(kmeans.squares(X, X))
    core = np.partition(D, min(ms, n - 1), axis=1)[:, min(ms, n - 1)]
    inT = np.zeros(n, bool)
    best = np.full(n, np.inf)
    frm = np.zeros(n, int)
    cur = 0
    inT[0] = True
    edges = np.empty((n - 1, 3))
    for i in range(n - 1):
        r = np.maximum(np.maximum(D[cur], core[cur]), core)
        upd = (r < best) & ~inT
        best[upd] = r[upd]
        frm[upd] = cur
        b = np.where(inT, np.inf, best)
        cur = int(b.argmin())
        edges[i] = (frm[cur], cur, b[cur])
        inT[cur] = True
    return edges[np.argsort(edges[:, 2], kind="stable")], core


def graph(X, kmax):
    """for each k: longest log-range of thresholds with k big comps covering >= .8"""
    n = len(X)
    E, core = mst(X)
    out = {}
    for frac in (0.03, 0.08):
        m = max(5, int(frac * n))
        parent = np.arange(n)
        size = np.ones(n, int)

        def find(x):
            while parent[x] != x:
                parent[x] = parent[parent[x]]
                x = parent[x]
            return x

        big = 0
        cover = 0
        pers = np.zeros(kmax + 1)
        last = E[0, 2]
        state = 0
        res = np.zeros(kmax + 1)
        L = np.log(np.maximum(E[:, 2], 1e-12))
        for i, (a, b, w) in enumerate(E):
            a, b = find(int(a)), find(int(b))
            sa, sb = size[a], size[b]
            big -= int(sa >= m) + int(sb >= m)
            cover -= sa * int(sa >= m) + sb * int(sb >= m)
            parent[b] = a
            size[a] = sa + sb
            big += int(size[a] >= m)
            cover += size[a] * int(size[a] >= m)
            if i + 1 < len(L) and 1 <= big <= kmax and cover >= 0.8 * n:
                pers[big] += L[i + 1] - L[i]
                res[big] = max(res[big], L[i + 1] - L[i])
        out[f"pers{frac}"] = pers[1:].tolist()
        out[f"gap{frac}"] = res[1:].tolist()
    return out


def trimmed(X):
    n = len(X)
    D = kmeans.squares(X, X)
    kk = min(5, n - 1)
    l = np.log(np.maximum(np.partition(D, kk, axis=1)[:, kk], 1e-12)) / 2
    q1, q3 = np.quantile(l, [0.25, 0.75])
    cut = q3 + 1.5 * (q3 - q1)
    keep = l <= cut
    if keep.mean() < 0.9:
        keep = l <= np.quantile(l, 0.9)
    return keep


def looked(X, K, seed=0):
    s = halves.Sample.of(X, K, np.random.SeedSequence(seed))
    n, d = X.shape
    rows = []
    axes = X if d <= 15 else X[:, : max(2, min(10, n // 10))]
    for k in range(1, K + 1):
        e = halves.evidence(s, k)
        f = mixtures.fits(axes, e.labels, k)
        r = {
            "k": k,
            "J": sorted(e.returns.tolist()),
            "V": e.valley if k > 1 else 0,
            "U": e.valley_of_all,
            "inertia": e.inertia,
            "sizes": sorted(np.bincount(e.labels, minlength=k).tolist()),
            "bic": {x.kind: x.bic for x in f},
            "icl": {x.kind: x.icl for x in f},
        }
        if f:
            best = max(f, key=lambda x: x.bic)
            M = best.memberships.argmax(0)
            r["kind"] = best.kind
            r["msizes"] = sorted(np.bincount(M, minlength=k).tolist())
            if k > 1:
                r["W"] = lda_valley(axes, e.labels, k)
                r["WM"] = lda_valley(axes, M, k)
                from sklearn.metrics import adjusted_rand_score as ari

                r["PM"] = ari(e.labels, M)
        rows.append((r, e))
    return s, rows


def peers(X, s, rows, K, rng):
    from sklearn.metrics import silhouette_score, calinski_harabasz_score, davies_bouldin_score

    n, d = X.shape
    out = {"sil": [], "ch": [], "db": [], "ps": []}
    for r, e in rows:
        k = e.k
        if k == 1 or len(np.unique(e.labels)) < 2:
            for x in out:
                out[x].append(None)
            out["ps"][-1] = 1.0
            continue
        out["sil"].append(float(silhouette_score(X, e.labels)))
        out["ch"].append(float(calinski_harabasz_score(X, e.labels)))
        out["db"].append(float(davies_bouldin_score(X, e.labels)))
        # prediction strength
        vals = []
        fits = {}
        for at, found in halves._fitted(s, k, e.centres):
            for i, h in enumerate(range(*at.indices(len(s.halves)))):
                fits[h] = found[i]
        for h in range(len(s.halves)):
            B = s.others[h]
            cA = fits[h]
            cB = fits[h ^ 1]
            la = kmeans.nearest(X[B], cA)
            lb = kmeans.nearest(X[B], cB)
            w = 1.0
            for j in range(k):
                m = lb == j
                nj = m.sum()
                if nj < 2:
                    continue
                c = np.bincount(la[m], minlength=k)
                w = min(w, (c * (c - 1)).sum() / (nj * (nj - 1)))
            vals.append(w)
        out["ps"].append(float(np.mean(vals)))
    # gap
    B = 10
    lo, hi = X.min(0), X.max(0)
    ref = rng.uniform(lo, hi, (B, n, d))
    ref -= ref.mean(1, keepdims=True)
    sd = kmeans.seeds(ref, K, 3, rng)
    gaps = []
    se = []
    for r, e in rows:
        _, c = kmeans.fit(ref, sd[:, :, : e.k])
        l = np.log(c)
        gaps.append(float(l.mean() - np.log(max(e.inertia, 1e-300))))
        se.append(float(l.std() * np.sqrt(1 + 1 / B)))
    out["gap"] = gaps
    out["gapse"] = se
    return out


def one(task):
    name, seed = task
    t = time.process_time()
    X, k = cs.draw(name, seed)
    X = pts.prepare(X, X, False, np.random.SeedSequence(0)).sample
    n = len(X)
    K = min(10 if k <= 8 else 20 if k <= 16 else 25, n // 4, len(np.unique(X, axis=0)))
    s, rows = looked(X, K)
    t1 = time.process_time() - t
    res = {"name": name, "seed": seed, "k": k, "n": n, "d": X.shape[1], "K": K, "rows": [r for r, _ in rows], "t": t1}
    res["peers"] = peers(X, s, rows, K, np.random.default_rng(1))
    t2 = time.process_time()
    res["graph"] = graph(X, K)
    res["tg"] = time.process_time() - t2
    keep = trimmed(X)
    res["kept"] = float(keep.mean())
    if keep.mean() < 1:
        res["trim"] = [r for r, _ in looked(X[keep] - X[keep].mean(0), K)[1]]
    return res


if __name__ == "__main__":
    from multiprocessing import Pool

    lo, hi, jobs, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    only = sys.argv[5].split(",") if len(sys.argv) > 5 else list(cs.families())
    tasks = [(f, s) for s in range(lo, hi) for f in only]
    t = time.time()
    with open(out, "w") as w, Pool(jobs) as p:
        for i, r in enumerate(p.imap_unordered(one, tasks, chunksize=1)):
            w.write(json.dumps(r) + "\n")
            w.flush()
            if i % 200 == 0:
                print(i, len(tasks), time.time() - t, flush=True)
