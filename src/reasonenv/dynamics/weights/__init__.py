"""What training did to the weights, one measure a module.

* `updates`: a matrix' update as an operator: `LowRank` (LoRA), `Dora`, `Dense`.
* `displacement`: relative displacement per tensor and pooled, update mass by module and layer.
* `path`: path length, straightness, cosine of successive updates.
* `rank`: stable and effective rank, participation ratio, energy at k.
* `sparsity`: which share of the merged weight bfloat16 cannot tell from the base.
* `spectra`: leading singular triplets, randomised and cached by the weight's hash.
* `principal`: overlap with the base's principal subspace, principal angles, spectral shift.
* `locking`: how similar the update's leading subspace is to a later one.
* `names`, `adapters`, `tensors`: what a tensor is called, and where updates are read from.
* `analysis`: all of these for one adapter or one fine-tuned model.

For LoRA all but sparsity comes from the factors: the product B A is never formed. Sparsity is
about the merged weight, and streams over blocks of its rows.
"""
