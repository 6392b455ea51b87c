# Reference values for tests/golden/choosing_k.json: run by python -m reproductions.choosing_k_r, which writes the data.
# Packages of Debian: r-cran-cluster, r-cran-fpc, r-cran-mclust, r-bioc-consensusclusterplus.
suppressMessages({library(cluster); library(fpc); library(mclust); library(ConsensusClusterPlus)})
args <- commandArgs(trailingOnly = TRUE)
out <- function(name, ...) cat(name, sprintf("%.6f", c(...)), "\n")
read <- function(file) as.matrix(read.csv(file, header = FALSE))
folder <- if (length(args)) args[1] else "."
sets <- list(iris = as.matrix(iris[, 1:4]))
for (name in c("wine", "three", "square", "unequal")) sets[[name]] <- read(file.path(folder, paste0(name, ".csv")))

cat("versions", paste(sapply(c("cluster", "fpc", "mclust", "ConsensusClusterPlus"),
                             function(p) paste(p, packageVersion(p))), collapse = ", "), "\n")
X <- sets$iris
set.seed(1)
g <- clusGap(X, FUNcluster = kmeans, K.max = 6, B = 200, d.power = 2, spaceH0 = "scaledPCA", verbose = FALSE, nstart = 20)
out("gap", g$Tab[, "gap"]); out("gap_error", g$Tab[, "SE.sim"])
for (rule in c("Tibs2001SEmax", "globalSEmax")) cat("gap_rule", rule, maxSE(g$Tab[, "gap"], g$Tab[, "SE.sim"], rule), "\n")
set.seed(2)
p <- prediction.strength(X, Gmin = 2, Gmax = 5, M = 100, clustermethod = kmeansCBI, runs = 5, classification = "centroid")
out("prediction_strength", p$mean.pred); cat("prediction_strength_k", p$optimalk, "\n")
m <- mclustBIC(X, G = 1:6, modelNames = c("VVV", "EEE", "VVI", "VII"), verbose = FALSE)
for (model in c("VVV", "EEE", "VVI", "VII")) out(paste0("bic_", model), m[, model])
i <- mclustICL(X, G = 1:6, modelNames = c("VVV", "EEE", "VVI", "VII"))
for (model in c("VVV", "EEE", "VVI", "VII")) out(paste0("icl_", model), i[, model])
for (k in 2:5) {
  km <- { set.seed(3); kmeans(X, k, nstart = 50) }
  out(paste0("silhouette_", k), summary(silhouette(km$cluster, dist(X)))$avg.width)
  out(paste0("calinski_harabasz_", k), calinhara(X, km$cluster))
}
pdf(NULL)
# k-means with 20 starts: the "km" of the package has one random start, so its result depends on chance
best <- function(this_dist, k) kmeans(X[as.integer(attr(this_dist, "Labels")), ], k, nstart = 20)$cluster
rownames(X) <- seq_len(nrow(X))
c1 <- ConsensusClusterPlus(t(X), maxK = 5, reps = 200, pItem = 0.8, clusterAlg = "best", distance = "euclidean", seed = 5,
                           plot = NULL, verbose = FALSE)
for (k in 2:5) { M <- c1[[k]]$ml; v <- M[lower.tri(M)]; out(paste0("pac_", k), mean(v > 0.1 & v < 0.9)) }
set.seed(6)
s <- nselectboot(X, B = 100, clustermethod = kmeansCBI, classification = "centroid", krange = 2:5, runs = 10)
out("nselectboot", s$stabk[2:5]); out("nselectboot_error", apply(s$stab[, 2:5], 2, sd) / sqrt(100)); cat("nselectboot_k", s$kopt, "\n")
for (j in 2:5) {
  set.seed(7)
  b <- clusterboot(X, B = 100, bootmethod = "boot", clustermethod = kmeansCBI, krange = j, runs = 10, count = FALSE, showplots = FALSE)
  out(paste0("worst_", j), min(b$bootmean))
}

k <- c(iris = 3, wine = 3, three = 4, square = 4, unequal = 3)
for (name in names(sets)) for (scheme in c("boot", "subset", "noise", "jitter")) {
  set.seed(7)
  b <- clusterboot(sets[[name]], B = 100, bootmethod = scheme, clustermethod = kmeansCBI, krange = k[[name]], runs = 10,
                   subtuning = floor(nrow(sets[[name]]) / 2), noisetuning = c(0.05, 4), jittertuning = 0.05,
                   count = FALSE, showplots = FALSE)
  mean <- switch(scheme, boot = b$bootmean, subset = b$subsetmean, noise = b$noisemean, jitter = b$jittermean)
  o <- order(b$partition |> table() |> as.vector(), decreasing = TRUE)
  out(paste("clusterboot", name, scheme), mean[o])
  out(paste("sizes", name, scheme), as.vector(table(b$partition))[o])
}
