import re,json,sys,math,collections
d=sys.argv[1]
lab=collections.OrderedDict(); names=[]
cur=None
for l in open(d+'/log'):
    m=re.match(r'(\S+)\s+(f\d\d) nnz\s+(\d+).*limit\s+([\d.]+)\s+cuSPARSE\s+([\d.]+)',l)
    if m: cur=(m[1],m[2]); lab[cur]={'cu':float(m[5]),'limit':float(m[4])}; continue
    m=re.match(r'\s{2}(.+?)\s+([\d.]+) us\s+limit',l)
    if m and cur:
        lab[cur][m[1].strip()]=float(m[2])
        if m[1].strip() not in names: names.append(m[1].strip())
flats=sys.argv[2:]
for f in flats:
    for l in open(d+'/'+f):
        r=json.loads(l)
        n=r['matrix'] if isinstance(r['matrix'],str) else r['matrix']['name']
        n=n.replace('-like','')
        k=(n,r['value_type'])
        if k in lab:
            lab[k][f]=r['median_us']
    names.append(f)
for t in ('f32','f64'):
    print(t,'  '.join(names))
    g=collections.defaultdict(list)
    for (m,tt),v in lab.items():
        if tt!=t: continue
        row=[]
        for n in names:
            if v.get(n):
                r=v['cu']/v[n]; g[n].append(r); row.append('%6.2f'%r)
            else: row.append('   -  ')
        best=max((v['cu']/v[n] for n in names if v.get(n)),default=0)
        print('%-16s %8.1f lim %.2f  '%(m,v['cu'],v['limit']/v['cu']),' '.join(row),' | %.2f'%best)
    print('GM'.ljust(34),' '.join('%6.3f'%math.exp(sum(map(math.log,g[n]))/len(g[n])) if g[n] else '  -' for n in names))
