#!/bin/sh
# Phases of a script, told to whoever accounts for it:
#
#     vitals run --record phases.db -- sh examples/phases.sh
#     vitals report --phases phases.db
#
# Without `vitals run` above it the marks do nothing.
set -e

vitals mark unpack -- sh -c 'head -c 50000000 /dev/urandom | gzip > /tmp/phases.$$; rm /tmp/phases.$$'

vitals mark begin build
for part in 1 2 3; do
    vitals mark "part $part" -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
done
vitals mark end build

# Where vitals is not in the PATH of what runs (a container, another language), a line does it too.
if [ -n "$VITALS_MARKS" ]; then
    echo "begin clean up" >> "$VITALS_MARKS"
    sleep 0.2
    echo "end clean up" >> "$VITALS_MARKS"
fi
