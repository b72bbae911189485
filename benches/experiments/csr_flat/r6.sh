export OCL_ICD_FILENAMES=libnvidia-opencl.so.1 XDG_CACHE_HOME=/tmp/c XDG_CONFIG_HOME=/tmp/f XDG_DATA_HOME=/tmp/d
S=sparrow
M="dense2 pdb1HYS pwtk mc2depi cop20k_A scircuit mac_econ_fwd500 webbase-1M rail4284 circuit5M eu-2005 ldoor Ga41As41H72 dc2 ASIC_680k FullChip ins2 rajat31 sls mip1 uniform16 stencil27"
b() { timeout 60 $S bench $M --device NVIDIA --algorithms csr_flat --value-type $1 --parameters group_size=$2,piece_nnz=$3,whole_row=$4 --json $OUT/t >/dev/null 2>$OUT/err || tail -n 3 $OUT/err; sed "s/^{/{\"set\":\"$2x$3L$4\",/" $OUT/t >> $OUT/flat.jsonl; }
for p in "256 2048 256" "256 3072 256" "512 4096 256" "256 2048 1024"; do b f32 $p; done
for p in "256 1536 256" "512 2048 256" "256 1536 512" "256 1536 1024" "256 1024 512"; do b f64 $p; done
timeout 60 $S bench --op vector --device NVIDIA 2>&1 > $OUT/vector.txt
rm -f $OUT/t
echo 'lab 2048 | flat5_all.cl | 256 | 2048 | 2048 | -DLONG=256 -DNOALLOC -DMAXLG=5 -DV=1 -DNOREQD' > ./one.txt
timeout 100 labbin ./one.txt f32,f64 $M 2>&1 | tr -d '\000' > $OUT/log
wc -l $OUT/*
