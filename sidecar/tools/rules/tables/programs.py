"""Words not covered by a rule's `*`, by program, with reasons.

Of a listed program only listed options are covered (docs/decisions/rules-on-words.md); of those in
`_RUNNING`, which run others, nothing; of any other all literal words.
"""

from collections.abc import Mapping

from sidecar.tools.rules.tables.program import NO_OPERAND, Program, options
from sidecar.tools.rules.tables.programs_checking import CHECKING
from sidecar.tools.rules.tables.programs_git import GIT
from sidecar.tools.rules.tables.programs_own_code import OWN_CODE

# --- programs that run their arguments, or write any content anywhere ------------------------

_RUNNING = {
    "is a shell, and runs what it is given": "sh bash rbash dash ash zsh ksh mksh pdksh lksh oksh "
    "xonsh ysh yash fish csh tcsh elvish nu osh pwsh powershell busybox toybox cmd rc es ion wish "
    "wsh coreutils",
    "runs programs of its language": "python pythonw pypy ipython jython micropython node nodejs "
    "deno bun tsx ts-node perl shasum ruby irb jruby php lua luajit tclsh expect julia r rscript "
    "ghci runghc runhaskell stack scala kotlin groovy java jshell jrunscript jjs erl elixir iex "
    "ocaml swipl dart nim zig crystal mono wine escript racket guile scheme sbcl clisp clojure "
    "octave matlab gp maxima dotnet swift osascript awk nawk mawk original-awk bwk bc dc m4 "
    "py phpdbg babel-node swc-node esno ts-node-esm ts-node-dev bpython ptpython yaegi jbang "
    "mill goawk fx "
    "mlr gleam rebar3 cabal dune opam luarocks wasmtime wasmer vite-node jiti jupyter streamlit "
    "flask "
    "django-admin uvicorn gunicorn celery facter "
    "gnuplot tex latex pdftex pdflatex xetex xelatex lualatex luatex latexmk sage nix nix-shell "
    "nix-build nickel psysh cpan raku",
    "runs the command that it is given": "env xargs sudo sudoedit doas su pkexec runuser run0 "
    "nohup "
    "timeout nice ionice chrt taskset numactl time watch parallel setsid stdbuf unbuffer script "
    "scriptlive flock strace ltrace gdb lldb valgrind perf catchsegv faketime chroot unshare "
    "nsenter setarch linux64 linux32 i386 x86_64 arch ldd setpriv capsh prlimit softlimit chpst "
    "envdir envuidgid setuidgid fakeroot proot bwrap firejail systemd-run at batch crontab entr "
    "inotifywait watchexec watchman nodemon direnv mise asdf rtx dotenv start-stop-daemon "
    "run-parts run-mailcap xdg-open open command-not-found cpulimit daemonize dbus-run-session "
    "xvfb-run caffeinate rlwrap sg newgrp multitime hyperfine pidstat tmux screen zellij dtach "
    "abduco xdotool yarnpkg choom aa-exec logsave choroot torify torsocks runcon distcc ccache "
    "sccache systemd-inhibit xcrun sandbox-exec chronic ifne pee mispipe rbenv pyenv nodenv fnm "
    "gosu su-exec dumb-init tini proxychains tclkit dialog whiptail zenity posh zrun ts nq "
    "dpkg-buildpackage agetty openvt ld.so ld-linux-x86-64.so ksu runscript ksshell cross-env "
    "cross-env-shell concurrently npm-run-all run-s run-p c8 nyc onchange nx turbo lerna lage rush "
    "moon pm2 forever supervisord op sops aws-vault chamber doppler infisical teller cargo-watch "
    "fakechroot act dlv ginkgo mage go-task gotestsum air reflex bacon trunk cross flatpak-spawn "
    "prove msgexec heaptrack memusage sotruss lckdo shx dotenvx uclampset gprofng systemd-cat bear "
    "scan-build start-server-and-test lint-staged mold rust-gdb rust-lldb jdb erb "
    "toolbox distrobox systemd-nspawn chokidar watchman-make "
    "cargo-nextest py-spy scalene kernprof memray editor sensible-editor pager sensible-pager "
    "x-terminal-emulator xterm uxterm konsole gnome-terminal kitty alacritty wezterm foot",
    "is part of the shell, and runs, sets or reads what it is given": "eval exec source . command "
    "builtin coproc if then else elif fi case esac for while until do done select function in "
    "declare typeset local export readonly let unset read readarray mapfile getopts wait trap "
    "alias unalias enable hash bind complete compgen compopt set shopt fc history jobs fg bg "
    "disown cd pushd popd kill suspend logout return exit break continue shift umask ulimit dirs",
    "fetches or runs what is not installed": "npx pnpx bunx uvx uv pipx pip conda mamba poetry pdm "
    "hatch rye tox nox virtualenv gem bundle bundler rake rails composer easy_install corepack "
    "pipenv pixi guix nix-env nix-instantiate volta apt apt-get aptitude dpkg yum dnf rpm zypper "
    "pacman apk snap flatpak brew port emerge "
    "mvn mvnw gradle gradlew ant sbt lein ninja cmake ctest meson scons samu bmake remake "
    "bazel buck waf xcodebuild "
    "ansible ansible-playbook ansible-test puppet chef salt salt-call terraform tofu vagrant "
    "packer pre-commit lefthook husky just task invoke fab rustup rustc ld as gcc cc cpp clang tcc "
    "ghc ar strip c++ g++ clang++ c89 c99 gfortran javac nvcc cpack gold lli llc opt",
    "runs commands in a container or on another machine, or talks to one": "docker podman nerdctl "
    "docker-compose podman-compose buildah ctr runc crun lxc lxc-attach machinectl kubectl oc "
    "helm k9s minikube gh glab hub aws gcloud az ssh slogin sshpass autossh mosh scp sftp rsync "
    "rclone ftp tftp lftp telnet nc ncat netcat socat curl wget wget2 aria2c httpie http https xh "
    "openssl s_client whois dig nslookup host finger mail mailx mutt sendmail exim msmtp "
    "smbclient ldapsearch tcpdump tshark nmap ping traceroute restic borg duplicity rdiff-backup "
    "adb fastboot heroku flyctl vercel netlify ab fping ncftp ntpdate psftp rlogin ssh-keyscan "
    "hurl grpcurl websocat wscat newman k6 crane skopeo ssh-copy-id pdsh dsh clush parallel-ssh "
    "lp lpr xclip xsel wl-copy pbcopy gron lwp-download lwp-request mtr wireshark virsh kind k3d "
    "flux argocd istioctl skaffold tilt "
    "kustomize vault consul nomad pulumi cdk sam serverless sls wrangler firebase supabase railway "
    "fly doctl gsutil bq s3cmd eksctl arp ss post get lwp-mirror hf wandb kaggle ngrok "
    "cloudflared surge yt-dlp dropdb createdb vacuumdb pgbench",
    "runs commands from within": "vim.basic vim.tiny vim.nox vi vim vimdiff nvim view rvim rview "
    "ex ed red nano pico emacs "
    "emacsclient jed joe micro helix hx kak mcedit code codium less more most pg man info lynx w3m "
    "links elinks sqlite3 sqlite psql mysql mariadb mongo mongosh redis-cli duckdb clickhouse mc "
    "ranger lf vifm fzf sk peco tig lazygit gitui gitk top htop btop iftop systemctl journalctl "
    "loginctl service cscope ctags emacs-nox vigr vipw visudo pry dmesg ispell aspell hunspell",
    "runs a pager, a filter or a plugin that an option names": "ag ack ack-grep ugrep ug ug+ rga "
    "cloc nm objdump gprof glow bfs zless zmore bzless bzmore xzless xzmore zstdless zdiff "
    "zgrep zegrep zfgrep xzgrep bzgrep zstdgrep",
    "runs programs that --config or another option names": "hg chg sl jj svn bzr brz cvs fossil",
    "reads through links out of the workspace, in folders that it is given": "diff diff3 sdiff "
    "colordiff delta difft meld",
    "takes code, plugins or settings from wherever it is told, or writes there": "webpack rollup "
    "esbuild vite parcel swc babel gulp grunt next nuxt astro ng remix gatsby storybook playwright "
    "cypress karma ava tap wdio nightwatch ionic expo electron vue-cli-service react-scripts "
    "nose2 behave robot trial pytype pyre dmypy stubgen stubtest mypyc pydoc autopep8 yapf "
    "autoflake docformatter pyupgrade 2to3 bandit vulture pip-compile pip-sync pip-audit twine "
    "flit maturin cython cythonize alembic locust sphinx-build sphinx-autobuild mkdocs jekyll hugo "
    "doxygen asciidoctor typst tectonic quarto protoc buf thrift phpcs phpcbf php-cs-fixer psalm "
    "rector phan ktlint detekt scalafmt kotlinc scalac rustdoc clippy-driver bindgen wasm-pack "
    "erlc elixirc checkov tflint xmllint xsltproc dasel tsc vue-tsc tsgo "
    "tsup eslint_d prettierd _mocha jest-cli cargo-clippy cargo-fmt cargo-miri",
    "does on a model's word what it is asked": "claude codex gemini aider opencode goose crush amp "
    "cursor-agent copilot llm ollama",
    "is known to run commands or to write on the way": "ip cowsay cowthink csvtool dosbox dstat "
    "byebug bpftrace cobc gcore gimp grc gtester hping3 knife minicom msgfilter ncdu openvpn pdb "
    "perlbug pexec rtorrent sash scanmem setlock slsh sqlmap tasksh tdbtool tmate varnishncsa "
    "tput getconf lscpu zathura zsoelim ginsh dmsetup easyrsa eb enscript genie rpmdb rpmquery "
    "rpmverify nft sysctl tic bridge cdist certbot arj ascii-xfr bashbug bconsole busctl crash "
    "dvips efax genisoimage highlight jtag mosquitto msfconsole msgattrib msgcat msgconv msgmerge "
    "msguniq nasm neofetch fastfetch opkg pkg ptx redcarpet scrot soelim tbl unsquashfs volatility "
    "xmodmap xmore xpad yelp cupsfilter clamscan readelf exiftool redis etags pygmentize gio",
    "writes, moves or packs files wherever it is told": "cp mv ln install dd tee truncate split "
    "csplit sponge shred mkfifo mknod chmod chown chgrp chattr setfacl mount umount losetup zip "
    "unzip 7z 7za 7zz p7zip rar unrar cpio pax shar gzip gunzip bzip2 bunzip2 xz unxz lzma zstd "
    "lz4 compress uncompress patch ed rename mmv perl-rename git-shell gpg gpg2 age ssh-keygen "
    "ssh-agent ssh-add iconv recode dos2unix unix2dos pandoc convert magick mogrify ffmpeg "
    "fallocate debugfs mkfs logrotate update-alternatives ldconfig nano-tiny xmlstarlet yq sd "
    "indent uudecode uuencode pr troff groff nroff eqn pic ps2pdf gs unlink bsdtar bsdcpio pigz "
    "unzstd zstdmt pzstd jar phar gojq jaq tomlq xq-python",
}  # fmt: skip

# --- programs that mostly read ---------------------------------------------------------------

_SED_COMMAND = (
    r"(?:\d+|\$|/[^/\\\[\]\n]+/)?(?:,(?:\d+|\$|\+\d+|/[^/\\\[\]\n]+/))?"
    r"(?:[pdq=]|s/[^/\\\[\]\n]+/[^/\\\[\]\n]*/g?p?)"
)
_READING = {
    "ls": Program(
        "-L shows what links lead to",
        options(
            "aAbBcCdfFgGhiklmnNopqQrRsStTuUvwxXZ --all --almost-all --color --human-readable "
            "--recursive --reverse --size --sort --time --group-directories-first --full-time "
            "--time-style --classify --format --inode --numeric-uid-gid --directory --file-type "
            "--ignore --hide --si --version"
        ),
    ),
    "cat": Program("other options are not known", options("AbeEnstTuv --number --show-all")),
    "bat batcat": Program(
        "--pager runs a program, and --paging the one that its settings name",
        options("npA --number --plain --show-all --style --color"),
    ),
    "command": Program("it runs what it is given; -v and -V only tell", first="-[vV]"),
    "head tail": Program(
        "-f does not end", options("ncqvzr --lines --bytes --quiet --silent --verbose")
    ),
    "wc": Program(
        "--files0-from reads a list of files", options("clwmL --lines --words --bytes --chars")
    ),
    "grep egrep fgrep": Program(
        "-f reads patterns from a file, -R follows links out of the workspace",
        options(
            "niwvlLceEFPGhHoxqszaIrABCmbTUyZ --line-number --ignore-case --invert-match --count "
            "--word-regexp --line-regexp --files-with-matches --files-without-match --no-filename "
            "--with-filename --only-matching --quiet --silent --no-messages --recursive --include "
            "--exclude --exclude-dir --color --colour --context --after-context --before-context "
            "--max-count --regexp --extended-regexp --fixed-strings --perl-regexp --basic-regexp "
            "--null --text --byte-offset --binary-files --initial-tab --version"
        ),
        joined=r"-e[\s\S]+",
    ),
    "rg": Program(
        "--pre and --hostname-bin run programs, -z runs others, -f reads patterns from a file, -L "
        "follows links out of the workspace",
        options(
            "gtTeinlcowvFPUABCmSsuxrj0HINpqaMdEb --glob --iglob --type --type-not --type-list "
            "--regexp --ignore-case --smart-case --case-sensitive --line-number --no-line-number "
            "--files --files-with-matches --files-without-match --count --count-matches "
            "--only-matching --word-regexp --line-regexp --invert-match --fixed-strings --pcre2 "
            "--multiline --multiline-dotall --context --after-context --before-context "
            "--max-count --max-depth --max-columns --max-filesize --hidden --no-ignore "
            "--no-ignore-vcs --unrestricted --replace --threads --null --with-filename "
            "--no-filename --heading --no-heading --pretty --quiet --text --sort --sortr --stats "
            "--json --vimgrep --column --color --colors --trim --passthru --no-messages --crlf "
            "--byte-offset --encoding --no-config --version --help --max-columns-preview"
        ),
        joined=r"-[egTt][\s\S]+",
    ),
    "find": Program(
        "-exec, -execdir, -ok and -okdir run programs, -delete removes, -fprint and -fls write, "
        "-L follows links out of the workspace, -files0-from reads a list",
        options(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type "
            "-xtype -size -empty -mtime -mmin -ctime -cmin -atime -amin -newer -newermt -newerct "
            "-newerat -anewer -cnewer -maxdepth -mindepth -depth -prune -not -and -or -a -o -print "
            "-print0 -printf -ls -quit -perm -user -group -uid -gid -links -inum -samefile "
            "-readable -writable -executable -xdev -mount -true -false -daystart -P -noleaf "
            "-ignore_readdir_race -nouser -nogroup"
        ),
        whole=True,
        joined=r"-\d+[bcwkMG]?",
    ),
    "fd fdfind": Program(
        "-x and -X run programs, -L follows links out of the workspace",
        options(
            "etHIdgispa0uEF --extension --type --hidden --no-ignore --max-depth --min-depth --glob "
            "--case-sensitive --ignore-case --full-path --absolute-path --print0 --exclude "
            "--fixed-strings --size --changed-within --changed-before --color"
        ),
    ),
    "sed": Program(
        "a script can write files and run commands (`w`, `e`, and `s` with these), -i writes, -f "
        "reads a script; only printing, deleting and replacing by simple patterns are covered",
        options("nErsuz --quiet --silent --regexp-extended --posix --debug --separate"),
        script=rf"{_SED_COMMAND}(?:; ?{_SED_COMMAND})*",
    ),
    "sort": Program(
        "-o writes a file, --compress-program runs one, -T writes elsewhere, --files0-from reads a "
        "list of files",
        options(
            "bdfghiMnRrsuVzktcCm --key --field-separator --numeric-sort --reverse --unique "
            "--ignore-case --human-numeric-sort --version-sort --check --stable --zero-terminated "
            "--general-numeric-sort --month-sort --dictionary-order --ignore-leading-blanks"
        ),
    ),
    "uniq": Program(
        "a second file is written",
        options("cdDuizfsw --count --repeated --unique --ignore-case --skip-fields --skip-chars"),
        most=1,
    ),
    "cut tr paste comm join nl tac rev fold column expand unexpand od seq sleep basename dirname "
    "realpath readlink pwd whoami id uname nproc tty uptime df true false tsort "
    "factor groups users who lsblk free vmstat sum fmt shuf ul look basenc": Program(
        "letters are covered, long options are not",
        options("abcdefhilmnpqrstuvwxzABCDEFHIJKLMNPRSTUVWXZ"),
    ),
    "hd hexdump": Program("-e and -f take a format, from a file too", options("bcCdonsvx")),
    "strings": Program("`@` takes words from a file", options("afnetws"), operands="[^@].*"),
    "cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5": Program(
        "-c reads the files that a list names", options("abltz")
    ),
    "base64 base32": Program("-i and -o name files to some", options("dDw")),
    "which": Program("other options are not known", options("as")),
    "type": Program("other options are not known", options("afptP")),
    "echo": Program("it prints", any_option=True),
    "printf": Program(
        "-v sets a variable, and runs what its subscript holds", operands=r"[^\[$`]*"
    ),
    "test": Program(
        "-v, -R and the comparisons of numbers can run what a subscript holds",
        options("-e -f -d -s -r -w -x -L -h -z -n -p -S -b -c -nt -ot -ef -a -o"),
        whole=True,
        operands=r"[^\[$`]*",
    ),
    "xxd": Program("-r and a second file write", options("clsgupbei"), most=1),
    "file": Program(
        "-C and -m compile or take magic from elsewhere, -f reads a list, -z unpacks",
        options("bikhNsv --brief --mime --mime-type --mime-encoding --no-dereference"),
    ),
    "stat": Program("other options are not known", options("cftsxnr --format --printf --terse")),
    "du": Program(
        "--files0-from and -X read lists, -L follows links",
        options(
            "abchkmsSxdt --all --apparent-size --bytes --total --human-readable --summarize "
            "--max-depth --exclude --one-file-system"
        ),
    ),
    "tree": Program(
        "-o and -R write files, -l follows links",
        options(
            "adfiLPIhsugDFCnrtpNQ --noreport --dirsfirst --gitignore --filelimit --du "
            "--prune --matchdirs --ignore-case --charset --noreport"
        ),
    ),
    "cmp": Program("other options are not known", options("blsn --print-bytes --quiet --silent")),
    "jq": Program(
        "-f, -L, --rawfile, --slurpfile and, in its program, import, include and modulemeta read "
        "other files",
        options(
            "rcsneSMCajR --raw-output --compact-output --slurp --null-input --exit-status "
            "--sort-keys --monochrome-output --color-output --raw-input --join-output --tab "
            "--indent --arg --argjson --args --jsonargs --version"
        ),
        operands=r"(?!(?:[\s\S]*[\s;}])?(?:import|include)(?!\w))[\s\S]*",
        nowhere="modulemeta",
    ),
    "date": Program(
        "-s sets the clock, -f reads a file",
        options("uRI --utc --iso-8601 --rfc-3339"),
        operands=r"\+.*",
    ),
    "ps": Program(
        "`e` shows the variables of other programs, behind some letters with a `-` too",
        options("-A -e -f -F -l -p -ef -eF -el -Af -efl"),
        whole=True,
        operands=r"a?u?x?|\d+",
    ),
    "tar": Program(
        "a `*` covers listing; packing and unpacking write, and --to-command, --checkpoint-action, "
        "-I, -F and --rsh-command run programs; an archive may be on another machine, so that only "
        "`tf` and its like name one",
        options("tvzjJ --list --verbose --gzip --bzip2 --xz --zstd"),
        first=r"-?t[vzjJ]*f?|--list",
        operands=r"[^:]*",
    ),
}


SHELLS = frozenset(_RUNNING["is a shell, and runs what it is given"].split())
READING = frozenset(" ".join(_READING).split())
RUNNERS = frozenset(_RUNNING["runs the command that it is given"].split())
_NAMING = (
    "fetches or runs what is not installed",
    "runs a pager, a filter or a plugin that an option names",
    "runs programs that --config or another option names",
    "reads through links out of the workspace, in folders that it is given",
    "takes code, plugins or settings from wherever it is told, or writes there",
    "writes, moves or packs files wherever it is told",
)
NAMING = frozenset(
    " ".join((*_READING, *OWN_CODE, *CHECKING, *(_RUNNING[why] for why in _NAMING))).split()
)
"""Programs whose words may name another that they do not run, as in `apt install curl`."""
TRUSTED: Mapping[str, Program] = OWN_CODE | CHECKING
"""Programs that run the workspace's code, or change its files."""


def _table() -> dict[str, Program]:
    tables = {**_READING, **TRUSTED, "git": GIT}
    found = {name: program for names, program in tables.items() for name in names.split()}
    for why, names in _RUNNING.items():
        nothing = Program(f"it {why}", first=NO_OPERAND)
        found |= {name: nothing for name in names.split() if name not in found}
    return found


PROGRAMS: Mapping[str, Program] = _table()
