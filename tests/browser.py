"""A headless Chromium, controlled by its DevTools protocol: opens pages without a network and inspects them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> str | None:
    """The browser installed on this machine, if any."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """One page of a headless Chromium; `with Browser() as page: page.open(path)`."""

    def __enter__(self) -> Browser:
        from websocket import create_connection

        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = Path(self.folder.name) / "downloads"
        self.downloads.mkdir()
        found = program()
        assert found is not None
        self.process = subprocess.Popen(
            [
                found, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
                "--no-first-run", "--disable-extensions", "--disable-background-networking", "--remote-allow-origins=*",
                f"--user-data-dir={self.folder.name}/profile", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port_file = Path(self.folder.name) / "profile" / "DevToolsActivePort"
        deadline = time.monotonic() + 60
        while not (port_file.exists() and port_file.read_text().count("\n") >= 1):
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.__exit__()
                raise RuntimeError("Chromium did not start")
            time.sleep(0.05)
        port, path = port_file.read_text().split("\n")[:2]
        self.socket = create_connection(f"ws://127.0.0.1:{port}{path}", timeout=60)
        self.number, self.session, self.events = 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads), eventsEnabled=True)
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "socket"):
            self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self.folder.cleanup()

    def send(self, method: str, **params: Any) -> Any:
        """One command, and its answer; events that arrive in between are stored."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        done = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", "an error in the page"))
        return done["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> Any:
        """Wait until an expression is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < deadline, f"never true: {script}"
            time.sleep(0.05)
        return value

    def size(self, width: int, height: int = 900, phone: bool = False) -> None:
        """The size of the window."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def scheme(self, name: str) -> None:
        """Light or dark."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path: Path) -> float:
        """Open a file and wait until it is drawn; seconds from the request to the last picture."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.until("document.documentElement && document.documentElement.dataset.ready")
        return float(self.run("document.documentElement.dataset.ready")) / 1000

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """A click at a position in an element, given as shares of its width and height."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
            "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
        )
        at = {"x": box[0] + x * box[2], "y": box[1] + y * box[3]}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def key(self, name: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, **extra)

    def downloaded(self, name: str, seconds: float = 30) -> str:
        """The text of a file that the page has downloaded."""
        return self.downloaded_bytes(name, seconds).decode("utf-8")

    def downloaded_bytes(self, name: str, seconds: float = 30) -> bytes:
        """A file that the page has downloaded, once it is complete: before that, Chromium may show an empty file of this name."""
        deadline = time.monotonic() + seconds
        while (download := self._completed(name)) is None:
            assert time.monotonic() < deadline, f"{name} never came"
            self.run("1")  # lets events arrive
            time.sleep(0.05)
        text = (self.downloads / name).read_bytes()
        (self.downloads / name).unlink()  # otherwise the next file of this name would get a number
        self.events = [event for event in self.events if event["params"].get("guid") != download]
        return text

    def _completed(self, name: str) -> str | None:
        """The identifier of the download of this name, if it has ended; one that was cancelled raises."""
        told = [event["params"] for event in self.events if event["method"].startswith("Browser.download")]
        begun = {about["guid"] for about in told if about.get("suggestedFilename") == name}
        states = {about["state"]: about["guid"] for about in told if about["guid"] in begun and "state" in about}
        assert "canceled" not in states, f"the download of {name} was cancelled"
        return states.get("completed")

    def picture(self, path: Path) -> None:
        """A screenshot of the whole page."""
        from base64 import b64decode

        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        from base64 import b64decode

        return b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the page so far, and every request that left it."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:", "about:")):
                    found.append(f"asked for {url}")
        return found
