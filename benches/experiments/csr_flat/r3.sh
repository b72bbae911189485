export OCL_ICD_FILENAMES=libnvidia-opencl.so.1 XDG_CACHE_HOME=/tmp/c XDG_CONFIG_HOME=/tmp/f XDG_DATA_HOME=/tmp/d
mkdir -p /tmp/dump
LAB_DUMP=/tmp/dump LAB_NO_PEER=1 timeout 60 labbin ./$1 f32,f64 dc2 > /dev/null 2>&1
P=$(ls /usr/local/cuda*/bin/ptxas $(which ptxas) 2>/dev/null | head -1); B=$(dirname $P)
for f in /tmp/dump/*.ptx; do $B/ptxas -arch=sm_90 $f -o ${f%.ptx}.cubin && $B/cuobjdump -sass ${f%.ptx}.cubin > ${f%.ptx}.sass; done
tar czf $OUT/dump.tgz -C /tmp dump; ls -la $OUT
timeout 200 labbin ./$1 f32,f64 $2 2>&1 | tr -d '\000' > $OUT/log
grep -c cuSP $OUT/log
