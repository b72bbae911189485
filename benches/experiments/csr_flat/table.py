import sys,re,collections
cur=None; T=collections.OrderedDict(); peer={}; lim={}; names=[]
for l in open(sys.argv[1],errors='replace'):
    m=re.match(r'(\S+)\s+(f32|f64) nnz.*limit\s+([\d.]+)(?:.*cuSPARSE\s+([\d.]+))?',l)
    if m:
        cur=(m[1],m[2]); lim[cur]=float(m[3]); peer[cur]=float(m[4]) if m[4] else float('nan'); continue
    m=re.match(r'  (.{26})\s+([\d.]+) us',l)
    if m and cur:
        n=m[1].strip()
        if n not in names: names.append(n)
        T[(n,cur)]=float(m[2])
        if 'WRONG' in l: print('WRONG',cur,n,l.strip()[-80:])
for ty in ('f32','f64'):
    ms=[c for c in lim if c[1]==ty]
    if not ms: continue
    print(ty.ljust(24),' '.join(c[0][:7].rjust(7) for c in ms),'  gm')
    print('limit/cuSPARSE'.ljust(24),' '.join(f"{lim[c]/peer[c]:7.2f}" for c in ms))
    for n in names:
        import math
        r=[peer[c]/T[(n,c)] if (n,c) in T else float('nan') for c in ms]
        g=math.exp(sum(math.log(v) for v in r)/len(r)) if all(v==v for v in r) else float('nan')
        print(n.ljust(24),' '.join(f"{v:7.2f}" for v in r),f"{g:6.3f}")
    b=[max(peer[c]/T[(n,c)] for n in names if (n,c) in T) for c in ms]
    print('best'.ljust(24),' '.join(f"{v:7.2f}" for v in b), f"{math.exp(sum(map(math.log,b))/len(b)):6.3f}")
