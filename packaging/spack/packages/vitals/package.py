# A Spack repository of one package: spack repo add packaging/spack; spack install vitals
from spack.package import *


class Vitals(MesonPackage):
    """Shows, records and accounts for what every process does to CPUs, memory, disks and GPUs."""

    license("MIT")
    git = "file:///srv/git/vitals"  # where the site keeps the source

    version("main", branch="main")

    variant("exporter", default=True, description="vitals serve, --mlflow, --otlp, --tensorboard")
    variant("scopes", default=False, description="count runs in scopes of the user's systemd")

    depends_on("c", type="build")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("jansson@2.14:+shared")
    depends_on("ncurses")
    depends_on("sqlite@3.34:")
    depends_on("zlib-api")
    with when("+exporter"):
        depends_on("curl@7.68:")
        depends_on("gnutls@3.6:")
        depends_on("libmicrohttpd@0.9.71:+https")
        depends_on("libxcrypt")
        depends_on("libyaml")
    depends_on("systemd", when="+scopes")

    def meson_args(self):
        def feature(option, on):
            return f"-D{option}={'enabled' if on else 'disabled'}"

        return [
            feature("tell", self.spec.satisfies("+exporter")),
            feature("scopes", self.spec.satisfies("+scopes")),
            *[feature(option, False) for option in ("tests", "benches", "fuzz", "examples")],
        ]
