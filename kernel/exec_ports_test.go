package kernel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPortsThatACommandNames(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]int{
		"curl http://localhost:3000/health":                            {3000},
		"curl -s 127.0.0.1:8080 && curl [::1]:8081":                    {8080, 8081},
		"psql -h localhost -p 5432 -U me":                              {5432},
		"npm run dev -- --port 5173":                                   {5173},
		"npm run dev -- --port=5173 --host 0.0.0.0":                    {5173},
		"vite --server-port 4000":                                      {4000},
		"PORT=3000 node server.js":                                     {3000},
		`PGPORT="6000" make test`:                                      {6000},
		"python3 -m http.server 8000":                                  {8000},
		"python -m http.server":                                        nil,
		"./server -addr :9090":                                         {9090},
		"php -S localhost:8000 -t public":                              {8000},
		"nc -l 7777":                                                   {7777},
		"nc -z localhost 6379":                                         {6379},
		"redis-cli -p6379 ping":                                        {6379},
		"curl localhost:3000; curl localhost:3000":                     {3000},
		"ssh -p 22 me@host; curl localhost:443":                        nil, // those of the system
		"curl localhost:99999":                                         nil,
		"echo localhost":                                               nil,
		"sleep 3000; head -c 8080 file":                                nil,
		"date +%H:%M:%S; git log --since 12:30":                        nil,
		"curl https://example.com:8443/":                               nil,
		"curl https://127.0.0.1.example.com:8443/":                     nil,
		"for p in 1 2; do curl localhost:$((3000+p)); done":            nil,
		"a:1111 :2001 :2002 :2003 :2004 :2005 :2006 :2007 :2008 :2009": {2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008},
	} {
		c := &command{line: line}
		if diff := cmp.Diff(want, c.ports()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}
