"""Who listens on a port, and how complete the table is, as JSON: listeners.py PORT."""

import json
import sys

import api

snapshot = api.Context().take("socket")
json.dump({
    "state": snapshot.state("socket"),
    "listening": [[row["pid"], row["descriptor"]] for row in snapshot.rows("socket")
                  if row["local_port"] == int(sys.argv[1]) and row["state"] == b"listen"],
}, sys.stdout)
