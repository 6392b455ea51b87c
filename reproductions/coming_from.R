# Values of the R packages in docs/coming_from.md, one per line: package, call, value (tab-separated).
# Rscript reproductions/coming_from.R > docs/reproductions/coming_from_r.txt
# Needs clue, mclust, fpc and ConsensusClusterPlus (Debian: r-cran-clue r-cran-mclust r-cran-fpc r-bioc-consensusclusterplus).
suppressPackageStartupMessages({ library(clue); library(mclust); library(fpc); library(ConsensusClusterPlus) })

emit <- function(package, call, value) {
  shown <- if (is.character(value)) value else paste(sprintf("%.10g", as.numeric(value)), collapse = " ")
  cat(package, call, shown, sep = "\t")
  cat("\n")
}
attempt <- function(expression) tryCatch(as.numeric(expression), error = function(e) paste("error:", conditionMessage(e)))

cat(R.version.string, "\n", sep = "")
for (p in c("clue", "mclust", "fpc", "ConsensusClusterPlus")) cat(p, as.character(packageVersion(p)), "\n")

# a and b are Boorman and Arabie's, from the manual of clue; c and d have different best matchings in the two directions;
# identical singletons and identical single clusters are the cases of 0/0.
a <- c(1, 2, 2, 2, 3, 3, 2, 2)
b <- c(1, 1, 2, 2, 3, 3, 4, 4)
c <- c(2, 2, 1, 2, 2, 2, 1, 1, 2, 2, 2, 1)
d <- c(5, 2, 5, 4, 5, 5, 5, 1, 1, 2, 1, 4)
pairs <- list(
  "a, b" = list(a, b), "b, a" = list(b, a), "c, d" = list(c, d),
  "singletons" = list(1:4, 1:4), "one cluster" = list(rep(1, 4), rep(1, 4))
)

for (name in names(pairs)) {
  x <- pairs[[name]][[1]]
  y <- pairs[[name]][[2]]
  px <- as.cl_hard_partition(x)
  py <- as.cl_hard_partition(y)
  for (method in c("Rand", "cRand", "NMI", "diag", "FM", "Jaccard", "purity"))
    emit("clue", sprintf('cl_agreement(%s, "%s")', name, method), attempt(cl_agreement(px, py, method)))
  for (method in c("symdiff", "Rand", "BA/A", "BA/E", "VI"))
    emit("clue", sprintf('cl_dissimilarity(%s, "%s")', name, method), attempt(cl_dissimilarity(px, py, method)))
  emit("mclust", sprintf("adjustedRandIndex(%s)", name), attempt(adjustedRandIndex(x, y)))
  emit("mclust", sprintf("classError(%s)$errorRate", name), attempt(classError(x, y)$errorRate))
}

# clue: soft partitions
u <- matrix(c(0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.1, 0.9), ncol = 2, byrow = TRUE)
soft <- as.cl_partition(as.cl_membership(u))
hard <- as.cl_hard_partition(c(1, 1, 2, 2))
for (method in c("Rand", "cRand", "NMI", "Jaccard", "diag"))
  emit("clue", sprintf('cl_agreement(hard, soft, "%s")', method), attempt(cl_agreement(hard, soft, method)))
emit("clue", 'cl_dissimilarity(hard, soft, "VI")', attempt(cl_dissimilarity(hard, soft, "VI")))

# clue: an ensemble
runs <- list(c(1, 1, 1, 2, 2, 2, 3, 3, 3), c(1, 1, 2, 2, 2, 2, 3, 3, 3), c(1, 1, 1, 2, 2, 3, 3, 3, 1), c(1, 1, 1, 2, 2, 2, 3, 3, 2))
ensemble <- cl_ensemble(list = lapply(runs, as.cl_hard_partition))
agreement <- as.matrix(cl_agreement(ensemble, method = "cRand"))
emit("clue", 'cl_agreement(ensemble, method = "cRand")[1, ]', agreement[1, ])
emit("clue", 'cl_agreement(ensemble, method = "cRand")[3, ]', agreement[3, ])
set.seed(1)
emit("clue", "cl_class_ids(cl_consensus(ensemble))", cl_class_ids(cl_consensus(ensemble, control = list(k = 3, nruns = 20))))
emit("clue", "cl_class_ids(cl_medoid(ensemble))", cl_class_ids(cl_medoid(ensemble, method = "VI")))

# fpc: iris, whose species are compared with a tree cut into three
X <- as.matrix(iris[, 1:4])
species <- as.integer(iris$Species)
cut3 <- cutree(hclust(dist(X), "average"), 3)
emit("fpc", "cutree(hclust(dist(X), \"average\"), 3)", paste(cut3, collapse = ""))
stats <- cluster.stats(dist(X), cut3, species)
for (field in c("corrected.rand", "vi", "dunn", "dunn2", "avg.silwidth")) emit("fpc", sprintf("cluster.stats(d, cut3, species)$%s", field), stats[[field]])
boot <- clusterboot(X, B = 400, clustermethod = kmeansCBI, k = 3, runs = 10, seed = 1, count = FALSE)
order_by_size <- order(table(boot$result$partition))
emit("fpc", "clusterboot(X, B = 400, kmeansCBI, k = 3)$bootmean", boot$bootmean[order_by_size])
emit("fpc", "table(partition)", table(boot$result$partition)[order_by_size])

# ConsensusClusterPlus: every fifth iris, with the labels of each resample recorded, so that others can count the same
Y <- t(X[seq(1, 150, by = 5), ])
colnames(Y) <- paste0("i", seq_len(ncol(Y)))
record <- list()
recorded <- function(distances, k) {
  labels <- cutree(hclust(distances, "average"), k)
  row <- rep(".", ncol(Y))
  row[match(names(labels), colnames(Y))] <- labels
  record[[length(record) + 1]] <<- c(k, paste(row, collapse = ""))
  labels
}
pdf(NULL)
found <- suppressMessages(ConsensusClusterPlus(Y, maxK = 4, reps = 20, pItem = 0.8, clusterAlg = "recorded", distance = "euclidean", seed = 1, plot = NULL))
for (row in record) emit("ConsensusClusterPlus", sprintf("labels of a resample, k = %s", row[1]), row[2])
icl <- calcICL(found, plot = NULL)
areas <- c()
for (k in 2:4) {
  matrix <- found[[k]]$consensusMatrix
  values <- matrix[lower.tri(matrix)]
  emit("ConsensusClusterPlus", sprintf("[[%d]]$consensusMatrix[1, ]", k), matrix[1, ])
  emit("ConsensusClusterPlus", sprintf("[[%d]]$consensusClass", k), paste(found[[k]]$consensusClass, collapse = ""))
  cc <- icl$clusterConsensus
  emit("ConsensusClusterPlus", sprintf("calcICL()$clusterConsensus, k = %d", k), cc[cc[, "k"] == k, "clusterConsensus"])
  ic <- icl$itemConsensus
  first <- ic[ic$k == k & ic$item == "i1", ]
  emit("ConsensusClusterPlus", sprintf("calcICL()$itemConsensus, k = %d, item 1", k), first$itemConsensus[order(first$cluster)])
  # the area that its plot "Delta area" shows: a sum over 100 bars of the histogram
  bars <- hist(values, plot = FALSE, breaks = seq(0, 1, by = 0.01))
  areas <- c(areas, sum(cumsum(bars$counts) / sum(bars$counts)) * 0.01)
}
emit("ConsensusClusterPlus", "area under the CDF, k = 2, 3, 4", areas)
emit("ConsensusClusterPlus", "delta area, k = 2, 3, 4", c(areas[1], diff(areas) / areas[-3]))
