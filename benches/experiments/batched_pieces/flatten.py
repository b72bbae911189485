import sys,re,os
root='cl/'
def inc(path,seen):
    if path in seen: return ''
    seen.add(path)
    out=[]
    for l in open(path if path.startswith('/') else root+path):
        m=re.match(r'#include "(.*)"',l)
        out.append(inc(m.group(1),seen) if m else l)
    return ''.join(out)
print(inc(sys.argv[1],set()))
