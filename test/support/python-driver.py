"""Makes calls with the Python client as JSON lines on standard input say, and writes their outcomes."""

import asyncio
import inspect
import json
import logging
import sys
import threading
from concurrent.futures import CancelledError

from forecue import AsyncForecue, Cancellation, Forecue, ForecueError, Tokens

# In development mode asyncio also warns of what is slow, as all is on a busy machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)

clients = {}
running = {}


def say(number, **outcome):
    sys.stdout.write(json.dumps({"call": number, **outcome}) + "\n")
    sys.stdout.flush()


def say_failure(number, error):
    if isinstance(error, ForecueError):
        facts = {name: getattr(error, name) for name in ("code", "status", "remedy", "request_id", "retry_after", "fields")}
        say(number, failure={**facts, "message": str(error)})
    elif isinstance(error, (CancelledError, asyncio.CancelledError)):
        say(number, cancelled=True)
    else:
        say(number, failure={"invalid": f"{type(error).__name__}: {error}"})


def client_of(mode, settings):
    key = json.dumps([mode, settings])
    if key not in clients:
        options = dict(settings)
        if isinstance(options.get("credential"), dict):
            options["credential"] = Tokens(**options["credential"])
        clients[key] = {"sync": Forecue, "async": AsyncForecue}[mode](**options)
    return clients[key]


def arguments_of(method, given):
    """Bodies and queries are given by name, except rows and lists of rows."""
    takes_body = "body" in inspect.signature(method).parameters
    positional = [one for one in given if takes_body or not isinstance(one, dict)]
    named = {} if takes_body else {key: value for one in given if isinstance(one, dict) for key, value in one.items()}
    return positional, named


def prepare(number, mode, client, method, given, options):
    function = getattr(client_of(mode, client), method)
    positional, named = arguments_of(function, given)
    seen = lambda response: say(number, headers=response.headers)
    return lambda **more: function(*positional, **named, **options, **more, on_response=seen)


def run_in_thread(number, cancellation, **call):
    try:
        answer = prepare(number, **call)(cancellation=cancellation)
        if inspect.isgenerator(answer):
            for item in answer:
                say(number, item=item)
            answer = None
        say(number, answer=answer)
    except BaseException as error:
        say_failure(number, error)


async def run_in_task(number, **call):
    try:
        answer = prepare(number, **call)()
        if inspect.isasyncgen(answer):
            async for item in answer:
                say(number, item=item)
            say(number, answer=None)
        else:
            say(number, answer=await answer)
    except BaseException as error:
        say_failure(number, error)


async def main():
    while True:
        line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        if not line:
            break
        message = json.loads(line)
        number = message.pop("number")
        if "cancel" in message:
            running[number].cancel()
        elif message["mode"] == "sync":
            running[number] = Cancellation()
            thread = threading.Thread(target=run_in_thread, args=(number, running[number]), kwargs=message, daemon=True)
            thread.start()
        else:
            running[number] = asyncio.ensure_future(run_in_task(number, **message))
    for client in clients.values():
        if isinstance(client, Forecue):
            await asyncio.to_thread(client.close)
        else:
            await client.aclose()


asyncio.run(main())
