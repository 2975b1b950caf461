#!/bin/sh
# The same cluster with curl: any node's HTTP address, by default that of `npm start`'s first node.
set -eu
at=${1:-127.0.0.1:13680}
curl -sf -o /dev/null -w 'put %{http_code}\n' -X PUT --data-binary 'a value' "http://$at/v0/entity?id=example:entity"
curl -sf -w '\nget %{http_code}\n' "http://$at/v0/entity?id=example:entity"
curl -sf -o /dev/null -w 'delete %{http_code}\n' -X DELETE "http://$at/v0/entity?id=example:entity"
curl -s -o /dev/null -w 'get %{http_code}\n' "http://$at/v0/entity?id=example:entity"
