"""`python -m vitals.compat.nvitop.exporter`: an exporter for Prometheus with the names of nvitop-exporter, for its
dashboards. Options are those of `vitals serve`, which has --port, --bind and --interval."""

from vitals.__main__ import main

if __name__ == "__main__":
    main("serve", "--compat", "nvitop-exporter")
