#!/bin/sh
echo "the node's report" | gzip >"$2".gz
