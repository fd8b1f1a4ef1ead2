"""An RTSP server on loopback for measurements and tests, run by the system's Python.

    /usr/bin/python3 rtsp_server.py --port 0 [--user ann --password s3cret]
        [--cert CERT.pem --key KEY.pem] MOUNT=VIDEO.mp4 ...

It needs GStreamer's bindings, which no package index has, so it is never imported here: see
`benchmarks.room.rtsp_loopback`. Serves each H.264 or H.265 (.h265.mp4) file as it is coded,
at its own pace, over TLS (rtsps://) where it is given a certificate. Prints one JSON line
`{"port": N}` when it listens, and obeys lines on standard input, answering each with a line:

    drop        close every client's connection
    stall       send nothing more, keep the connections
    go          go on after a stall
    down        stop listening and drop all clients
    up          listen again on the same port
    quit        end
"""

# mypy: ignore-errors

import argparse
import json
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402


def launch(path: str) -> str:
    """The pipeline of a file: no decoding, no encoding."""
    kind = "h265" if path.endswith(".h265.mp4") else "h264"
    where = path.replace('"', '\\"')
    return (
        f'( filesrc location="{where}" ! qtdemux ! {kind}parse config-interval=-1 '
        f"! rtp{kind}pay name=pay0 pt=96 )"
    )


class Server:
    """The server and the commands it receives."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.port = arguments.port
        self.stalled = False
        self.media: list = []
        self.sources: list[int] = []
        self.server = GstRtspServer.RTSPServer()
        self.server.set_address("127.0.0.1")
        self.server.set_service(str(self.port))
        mounts = self.server.get_mount_points()
        for text in arguments.mounts:
            mount, path = text.split("=", 1)
            factory = GstRtspServer.RTSPMediaFactory()
            factory.set_launch(launch(path))
            factory.set_shared(False)
            factory.connect("media-configure", self.configure)
            if arguments.user or arguments.cert:
                self.permit(factory)
            mounts.add_factory(f"/{mount}", factory)
        if arguments.user or arguments.cert:
            self.server.set_auth(self.guard(arguments))
        self.up()

    def permit(self, factory) -> None:
        """Let whoever has logged in see the stream."""
        allowed = GstRtspServer.RTSPPermissions()
        allowed.add_permission_for_role("viewer", "media.factory.access", True)
        allowed.add_permission_for_role("viewer", "media.factory.construct", True)
        factory.set_permissions(allowed)

    def guard(self, arguments: argparse.Namespace):
        """Whoever comes: over TLS, by name and password, or both."""
        auth = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        if arguments.cert:
            files = arguments.cert, arguments.key
            auth.set_tls_certificate(Gio.TlsCertificate.new_from_files(*files))
        if not arguments.user:
            auth.set_default_token(token)
        elif arguments.digest:
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(arguments.user, arguments.password, token)
        else:
            own = arguments.user, arguments.password
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(*own), token)
        return auth

    def configure(self, _factory, media) -> None:
        """Remember a stream, to stall it."""
        self.media.append(media)
        media.connect("unprepared", lambda m: self.media.remove(m) if m in self.media else None)

    def up(self) -> None:
        """Listen."""
        self.sources.append(self.server.attach(None))
        self.port = self.server.get_bound_port()
        self.server.set_service(str(self.port))

    def drop(self) -> None:
        """Close all connections."""
        remove = GstRtspServer.RTSPFilterResult.REMOVE
        self.server.client_filter(lambda *_: remove)

    def pause(self, on: bool) -> None:
        """Stall all streams, or go on."""
        state = Gst.State.PAUSED if on else Gst.State.PLAYING
        for media in list(self.media):
            pipeline = media.get_element().get_parent()
            while pipeline is not None and not isinstance(pipeline, Gst.Pipeline):
                pipeline = pipeline.get_parent()
            if pipeline is not None:
                pipeline.set_state(state)

    def obey(self, word: str) -> None:
        """Do what a line says."""
        if word == "drop":
            self.drop()
        elif word in ("stall", "go"):
            self.pause(word == "stall")
        elif word == "down":
            for source in self.sources:
                GLib.source_remove(source)
            self.sources.clear()
            self.drop()
        elif word == "up":
            self.up()
        elif word == "quit":
            sys.exit(0)


def main() -> None:
    """Serve until the command to quit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--user", default="")
    parser.add_argument("--password", default="")
    parser.add_argument("--digest", action="store_true")
    parser.add_argument("--cert", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("mounts", nargs="+")
    arguments = parser.parse_args()
    Gst.init(None)
    loop = GLib.MainLoop()
    server = Server(arguments)

    def heard(stream, _condition) -> bool:
        line = stream.readline()
        if not line:
            loop.quit()
            return False
        server.obey(line.strip())
        print(json.dumps({"done": line.strip()}), flush=True)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    print(json.dumps({"port": server.port}), flush=True)
    loop.run()


if __name__ == "__main__":
    main()
