/* command_table.c: the subcommands and their help texts. */
#include "command/command.h"

// One command, one paragraph.
// clang-format off
const struct command command_table[] = {
    {.run = command_view, .bit = COMMAND_VIEW,
     .usage = "[OPTION]... [COMMAND]",
     .summary = "shows this machine",
     .purpose = "Shows what every process does to this machine's CPUs, memory, disks and GPUs.",
     .examples = "vitals                            the monitor, on a terminal\n"
                 "vitals -1                         a report of now\n"
                 "vitals -1 -o 0 1 -u ana           of two GPUs and one user's processes\n"
                 "vitals --json --interval 1        a snapshot a second, until Ctrl-C\n"
                 "vitals run -- python train.py     what did this run use?\n"
                 "vitals --demo -1                  all of it without a GPU\n"},
    {.name = "run", .run = command_run, .bit = COMMAND_RUN, .flags = COMMAND_RUNS,
     .usage = "run [OPTION]... [--] COMMAND [ARGUMENT]...",
     .summary = "runs a command and reports what it used",
     .purpose = "Runs a command and reports on stderr what it and all its descendants used; with "
                "-v also how each figure was measured. The command keeps its output, exit code, "
                "signals and terminal. Phases that it marks (vitals mark) are recorded.",
     .examples = "vitals run -- python train.py\n"
                 "vitals run --record run.db -- ./job.sh     then: vitals report run.db\n"
                 "vitals run --json account.json --interval 100ms -- make -j8\n"
                 "vitals run --limit-time 2h --limit-memory 40GiB -- ./job.sh\n"
                 "vitals run --gpus 2 --min-free-memory 40GiB -- python train.py\n"
                 "vitals run --repeat 10 -- ./benchmark\n",
     .exits = "the command's own; 128 + signal where one ended it\n"
              "124 --limit-time ended it, as with timeout(1); or no GPU became free\n"
              "137 another limit ended it, or the kernel killed a process for lack of memory\n"
              "125 vitals itself failed before the command ran\n"
              "126 the command cannot be run, 127 there is no such command\n"
              "2   usage\n"},
    {.name = "track", .run = command_track, .bit = COMMAND_TRACK, .flags = COMMAND_WORDS,
     .usage = "track [OPTION]... PID...",
     .summary = "watches running processes and reports what they used",
     .purpose = "Watches running processes, with all that they start, and reports on stderr "
                "what they used meanwhile; with -v also how each figure was measured. It ends when "
                "they have ended or with Ctrl-C, and does not disturb them. A process may "
                "track itself: vitals does not count itself.",
     .examples = "vitals track 4711\n"
                 "vitals track --record train.db $(pgrep -f train.py)\n"
                 "vitals track --json account.json --no-children 4711\n"},
    {.name = "record", .run = command_record, .bit = COMMAND_RECORD, .flags = COMMAND_WORDS | COMMAND_WHOLE,
     .usage = "record [OPTION]... [FILE]",
     .summary = "records the machine over time",
     .purpose = "Records this machine, sample by sample, into FILE, or as CSV to standard "
                "output, until Ctrl-C. FILE is complete at every moment and can be read while "
                "it grows. To record one process and what it starts, use vitals track PID "
                "--record.",
     .examples = "vitals record machine.db\n"
                 "vitals record --processes --interval 5 --rotate 1d --keep 7 machine.db\n"
                 "vitals record --format resource-tracker --duration 1min system.csv\n"
                 "vitals -1 --from machine.db\n"
                 "vitals report machine.db\n"},
    {.name = "replay", .run = command_replay, .bit = COMMAND_REPLAY,
     .flags = COMMAND_WORDS | COMMAND_PLAIN | COMMAND_WHOLE,
     .usage = "replay [OPTION]... FILE",
     .summary = "shows a recording on the monitor's screens",
     .purpose = "Plays a recording on the screens of the monitor from its beginning, with "
                "keys that step, jump, play faster and go to a time; h lists them. FILE is "
                "SQLite from vitals record, run --record or track --record, or JSON from "
                "vitals --json. A file that still grows is followed at its end.",
     .examples = "vitals replay run.db\n"
                 "vitals replay run.db --at 12:03\n"
                 "vitals replay run.db --at 34% --screen 120x40\n",
     .exits = "0 done\n"
              "1 FILE cannot be read or has no snapshots, there is no terminal, or no output\n"
              "2 usage\n"},
    {.name = "mark", .run = command_mark, .bit = COMMAND_MARK,
     .flags = COMMAND_WORDS | COMMAND_MAY_RUN | COMMAND_PLAIN,
     .usage = "mark begin NAME | end NAME | NAME -- COMMAND [ARGUMENT]...",
     .summary = "marks where a phase of a run begins and ends",
     .purpose = "Marks a phase of the run that it is part of, so that vitals report --phases can "
                "say what each used. Phases nest, and several processes may mark at once: an end "
                "ends the newest of that name of the same shell. Outside of vitals run it only "
                "runs COMMAND. A mark is a line in the file that VITALS_MARKS names: "
                "echo \"begin NAME\" >> \"$VITALS_MARKS\" does the same, and in C VITALS_BEGIN and "
                "VITALS_END of <vitals/mark.h>.",
     .examples = "vitals mark begin load; ./load; vitals mark end load\n"
                 "vitals mark train -- python train.py\n"
                 "vitals run --record run.db -- ./job.sh && vitals report --phases run.db\n",
     .exits = "the command's own; 128 + signal where one ended it\n"
              "0   done, also outside of vitals run\n"
              "126 the command cannot be run, 127 there is no such command\n"
              "2   usage\n"},
    {.name = "ps", .run = command_ps, .bit = COMMAND_PS, .flags = COMMAND_WORDS,
     .usage = "ps [OPTION]... [PID]...",
     .summary = "lists processes with the columns of your choice",
     .purpose = "Lists all processes, or the chosen ones. %CPU is the average over their "
                "life, or over the interval with --interval.",
     .examples = "vitals ps --sort -rss -n 10           the ten that hold the most memory\n"
                 "vitals ps -u ana --name 'python*'     one user's Pythons\n"
                 "vitals ps --tree --children 1234      what a process has started\n"
                 "vitals ps -o pid,pss,swapped_bytes,cgroup,cmd --gpu\n"
                 "vitals ps --interval 2 --sort -cpu%   every 2 s, the busiest on top\n"
                 "vitals ps --json | jq '.tables.process[] | select(.threads > 100) | .pid'\n",
     .exits = "0 done\n"
              "1 none was chosen, a pid has no process, or it could not be read or written\n"
              "2 usage\n"},
    {.name = "info", .run = command_info, .bit = COMMAND_INFO, .flags = COMMAND_WORDS,
     .usage = "info [OPTION]... PID...",
     .summary = "shows everything about a process",
     .purpose = "Shows everything known about a process: what it is, what it uses, what "
                "it may do, what it has open.",
     .examples = "vitals info 1234\n"
                 "vitals info --json 1234 | jq '.tables.descriptor[] | .path'\n",
     .exits = "0 done\n"
              "1 one of them could not be shown; the others were\n"
              "2 usage\n"},
    {.name = "kill", .run = command_kill, .bit = COMMAND_KILL,
     .flags = COMMAND_WORDS | COMMAND_SIGNALS,
     .usage = "kill [OPTION]... [PID]...",
     .summary = "shows which processes, asks, and signals them",
     .purpose = "Shows the processes that it would signal, asks, and signals exactly these: a "
                "new process that got one of their pids meanwhile is left alone. Options "
                "never choose process 1, vitals itself, what it runs in, or a kernel thread.",
     .examples = "vitals kill 1234\n"
                 "vitals kill -s INT --name 'python*' -u ana\n"
                 "vitals kill --yes --force-after 10 --children 1234\n"
                 "vitals kill --dry-run --match 'train.*--lr'\n",
     .exits = "0 all were signalled and, where it waited, have ended\n"
              "1 not all: none chosen, no permission, gone, still alive, or the answer was no\n"
              "2 usage\n"},
    {.name = "device", .run = command_device, .bit = COMMAND_DEVICE, .flags = COMMAND_WORDS,
     .usage = "device [OPTION]... [INDEX | UUID | PCI-ADDRESS]...",
     .summary = "shows everything about each GPU",
     .purpose = "Shows everything known about each GPU, or about the named ones: by number "
                "(0, or 0:1 for a partition), UUID or its beginning, or PCI address.",
     .examples = "vitals device 0\n"
                 "vitals device GPU-8932f937 17:00.0 --verbose\n"
                 "vitals device -o label,name,memory_used_bytes,utilization_ratio --csv\n"
                 "vitals device --interval 1 -o label,power_watts,temperature_celsius\n"
                 "vitals device --json | jq '.tables.gpu_sensor'\n",
     .exits = "0 done, also where there is no GPU and none was named\n"
              "1 a named device does not exist, or the name fits several\n"
              "2 usage\n"},
    {.name = "topo", .run = command_topo, .bit = COMMAND_TOPO,
     .usage = "topo [OPTION]...",
     .summary = "shows how GPUs, CPUs and network adapters are linked",
     .purpose = "Shows how far GPUs are from each other and from network adapters, by direct links "
                "or over PCI Express, and which CPUs are nearest to them.",
     .examples = "vitals topo\n"
                 "vitals topo --json | jq '.tables.gpu_peer'\n",
     .exits = "0 done, also where there is no GPU\n"
              "1 it could not be read or written\n"
              "2 usage\n"},
    {.name = "select", .run = command_select, .bit = COMMAND_SELECT, .flags = COMMAND_MAY_RUN,
     .usage = "select [OPTION]... [-- COMMAND [ARGUMENT]...]",
     .summary = "chooses GPUs that are free, and runs a command on them",
     .purpose = "Prints the GPUs that are free enough, the best first, or runs a command that sees "
                "only them. All are of one vendor, and a MIG device is chosen alone. A GPU that "
                "another job holds with --lock is never chosen.",
     .examples = "export CUDA_VISIBLE_DEVICES=$(vitals select -n 2 -f 40GiB)\n"
                 "vitals select --max-gpu-utilization 5 -O uuid\n"
                 "vitals select --wait --lock -- python train.py\n"
                 "vitals select -n 2 --wait --timeout 1h --lock -- vitals run -- make train\n",
     .exits = "with COMMAND, once it runs: the command's own\n"
              "0   done\n"
              "1   not possible: no folder for locks, an invalid list of devices\n"
              "2   usage\n"
              "3   fewer GPUs than asked for\n"
              "124 --timeout passed before enough GPUs were free\n"
              "126 the command cannot be run, 127 there is no such command\n"},
    {.name = "doctor", .run = command_doctor, .bit = COMMAND_DOCTOR,
     .usage = "doctor [OPTION]...",
     .summary = "shows what is missing, why, and how to repair it",
     .purpose = "Shows what was found on this machine, what cannot be read and why, and the "
                "command or step that would repair it. Nothing is changed.",
     .examples = "vitals doctor\n"
                 "vitals doctor --json | jq '.tables.diagnosis[] | select(.severity == "
                 "\"problem\")'\n",
     .exits = "0 nothing is wrong\n"
              "1 there are problems, or it could not be read or written\n"
              "2 usage\n"},
    {.name = "report", .run = command_report, .bit = COMMAND_REPORT,
     .flags = COMMAND_WORDS | COMMAND_PLAIN | COMMAND_WHOLE,
     .usage = "report [OPTION]... FILE | --jobs FOLDER",
     .summary = "shows what a recorded run used, as text, JSON or a page",
     .purpose = "Shows what a run used, from a recording (vitals run --record), from the JSON of "
                "an account, or from a file of resource-tracker or gpu_tracker; - is standard "
                "input. Text that is cut off or broken is read as far as it goes.",
     .examples = "vitals report run.db\n"
                 "vitals report run.db --html run.html     a page with charts\n"
                 "vitals report run.db --phases            what each phase used\n"
                 "vitals report run.db --advice slurm      lines for the head of a job script\n"
                 "vitals report --jobs /var/spool/vitals/jobs\n"
                 "vitals report tracking.csv --format gpu-tracker --memory-unit megabytes\n",
     .exits = "0 done\n"
              "1 the file is missing or not a recording, or the output could not be written\n"
              "2 usage\n"},
    {.name = "compare", .run = command_compare, .bit = COMMAND_COMPARE,
     .flags = COMMAND_WORDS | COMMAND_PLAIN | COMMAND_WHOLE,
     .usage = "compare [OPTION]... [NAME=]FILE... [vs [NAME=]FILE...]...",
     .summary = "compares runs and shows which differences are more than chance",
     .purpose = "Compares what runs used, figure by figure and phase by phase, with the "
                "first. Files between two vs are runs of the same thing: with two or more on "
                "each side, differences within chance are marked. Without vs each file "
                "stands alone.",
     .examples = "vitals compare old.db new.db\n"
                 "vitals compare old.*.db vs new.*.db      several runs of each\n"
                 "vitals compare base=a.db tuned=b.db --json | jq .figures\n",
     .exits = "0 done, whether or not they differ\n"
              "1 a file cannot be read or is not a recording\n"
              "2 usage\n"},
    {.name = "serve", .run = command_serve, .bit = COMMAND_SERVE,
     .usage = "serve [OPTION]...",
     .summary = "serves metrics for Prometheus and a web page",
     .purpose = "Samples this machine and serves over HTTP: /metrics for Prometheus, / a page "
                "with live charts, /api/v1/ for programs. Only this machine can connect, "
                "unless --listen says otherwise. Ends with Ctrl-C.",
     .examples = "vitals serve                               http://127.0.0.1:9847/\n"
                 "vitals serve --listen 0.0.0.0 --web-config web.yml\n"
                 "vitals serve --otlp=http://127.0.0.1:4318 --interval 15\n"
                 "vitals serve --textfile /var/lib/node_exporter/vitals.prom\n",
     .exits = "0 it was ended by a signal\n"
              "1 it cannot start: the port is in use or needs root, the address is not of this\n"
              "  machine, other machines could reach it unprotected, --web-config is invalid\n"
              "2 usage, also if --listen is a name or has an invalid port\n"},
    {.name = "top", .run = command_top, .bit = COMMAND_TOP, .flags = COMMAND_PLAIN,
     .usage = "top [--hosts LIST] [--prometheus URL] [OPTION]...",
     .summary = "shows the GPUs of many machines on one screen",
     .purpose = "Asks vitals serve on each machine, or the Prometheus that scrapes it, and shows "
                "their devices, users or jobs: which GPU is free, which memory is held idle, what "
                "did not answer and since when. A machine that hangs delays none of the others.",
     .examples = "vitals top --hosts node01,node02\n"
                 "vitals top --hosts 'node[01-64]' --by user --sort -used\n"
                 "vitals top --hosts @hosts.txt --once --filter free\n"
                 "vitals top --prometheus http://localhost:9090\n"
                 "vitals top --ssh --hosts node01,node02:2222\n"
                 "vitals -1 --hosts @targets.json           Prometheus' file_sd\n"
                 "vitals select --hosts 'node[01-64]' -n 2\n",
     .exits = "0 done, also where some machines did not answer\n"
              "1 none answered, or it could not be shown\n"
              "2 usage\n"},
    {.name = "send", .run = command_send, .bit = COMMAND_SEND,
     .flags = COMMAND_WORDS | COMMAND_PLAIN,
     .usage = "send [OPTION]... FILE...",
     .summary = "sends what an MLflow server has missed",
     .purpose = "Sends what vitals run --mlflow kept in FILE while the server could not be "
                "reached, and prints how much went where. FILE is removed once the server has "
                "accepted everything in it. Records that it refuses stay in FILE. Damaged bytes "
                "are not sent: each place is named, and when everything else has arrived, FILE is "
                "renamed to FILE.damaged.",
     .examples = "vitals send ~/.local/state/vitals/unsent/*.spool\n"
                 "vitals send --mlflow=https://mlflow.example ~/.local/state/vitals/unsent/*.spool\n",
     .exits = "0 everything has arrived, and each FILE is removed\n"
              "1 not everything arrived: the rest is in FILE or FILE.damaged; stderr says why\n"
              "2 usage\n"},
    {.name = "metrics", .run = command_metrics, .bit = COMMAND_METRICS, .flags = COMMAND_PLAIN,
     .usage = "metrics [--json]",
     .summary = "lists all metrics, with units and sources",
     .purpose = "Lists the catalogue: every table of a snapshot and every metric in it.",
     .examples = "vitals metrics | grep memory\n"
                 "vitals metrics --json\n"},
    {.name = "options", .run = command_options, .bit = COMMAND_OPTIONS,
     .flags = COMMAND_PLAIN | COMMAND_HIDDEN,
     .usage = "options --settings [OPTION]...",
     .summary = "prints the options in effect",
     .purpose = "Prints the value of each option of vitals itself, and whether a flag, the "
                "environment, the configuration or the default gave it.",
     .examples = "vitals options --settings -o 0 1\n"},
    {.name = NULL},
};
// clang-format on
