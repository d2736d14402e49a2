-- A module for Lmod: unpack the tarball of scripts/portable below ROOT, copy this file to
-- modulefiles/vitals/VERSION.lua, and set ROOT. EasyBuild: this is what its Tarball easyblock writes.
local ROOT = "/opt/apps/vitals"
local base = pathJoin(ROOT, "vitals-" .. myModuleVersion() .. "-linux-" .. (subprocess("uname -m"):gsub("%s+$", "")))

help([[vitals shows, records and accounts for what every process does to CPUs, memory, disks and GPUs.
vitals -1; vitals run -- COMMAND; man vitals]])
whatis("Name: vitals")
whatis("Description: processes, their CPU, memory, disk and GPU use")
whatis("Category: tools, monitoring")

prepend_path("PATH", pathJoin(base, "bin"))
prepend_path("PKG_CONFIG_PATH", pathJoin(base, "lib/pkgconfig"))
prepend_path("CPATH", pathJoin(base, "include"))
prepend_path("LIBRARY_PATH", pathJoin(base, "lib"))
prepend_path("LD_LIBRARY_PATH", pathJoin(base, "lib"))
