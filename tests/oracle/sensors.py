"""What psutil says of the sensors where it runs, as JSON."""

import json
import sys

import psutil

battery = psutil.sensors_battery()
json.dump({
    "temperatures": [[chip, one.label, one.current, one.high, one.critical]
                     for chip, some in psutil.sensors_temperatures().items() for one in some],
    "fans": [one.current for some in psutil.sensors_fans().values() for one in some],
    "battery": battery and [battery.percent, battery.secsleft, battery.power_plugged],
}, sys.stdout)
