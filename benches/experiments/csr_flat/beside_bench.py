import re,json,sys,math,collections
d=sys.argv[1]
exec(open('beside_list.py').read().split("flats=")[0].replace("d=sys.argv[1]",""))
names=['lab 2048']
for l in open(d+'/flat.jsonl'):
    r=json.loads(l)
    k=(r['matrix'].replace('-like',''),r['value_type'])
    if not r.get('verified'): print('UNVERIFIED',k,r['set'])
    if k in lab: lab[k][r['algorithm']]=r['median_us']
    if r['algorithm'] not in names: names.append(r['algorithm'])
for t in ('f32','f64'):
    ns=[n for n in names if any(n in v for (m,tt),v in lab.items() if tt==t)]
    print(t,'  '.join(ns)); g=collections.defaultdict(list); bests=[]
    for (m,tt),v in lab.items():
        if tt!=t: continue
        row=['%6.2f'%(v['cu']/v[n]) if n in v else '  -   ' for n in ns]
        for n in ns:
            if n in v: g[n].append(v['cu']/v[n])
        bests.append(max(v['cu']/v[n] for n in ns if n in v))
        print('%-16s %8.1f lim %.2f  '%(m,v['cu'],v['limit']/v['cu']),' '.join(row),' | %.2f'%bests[-1])
    gm=lambda x: math.exp(sum(map(math.log,x))/len(x))
    print('GM'.ljust(34),' '.join('%6.3f'%gm(g[n]) if g[n] else '  -' for n in ns),'  best %.3f'%gm(bests))
