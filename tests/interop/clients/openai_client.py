"""Checks of PyPI's `openai` against a gateway: prints a line for each, and fails if any failed.

    python openai_client.py BASE_URL TOKEN
"""

import asyncio
import sys

from openai import APIStatusError, AsyncOpenAI, AuthenticationError, BadRequestError, NotFoundError, OpenAI

BASE_URL, TOKEN = sys.argv[1:]
client = OpenAI(base_url=BASE_URL, api_key=TOKEN)


def says(text):
    return [{"role": "user", "content": text}]


def whole():
    answer = client.chat.completions.create(model="helper", messages=says("hello"))
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("Hello there.", "stop"), answer
    assert answer.object == "chat.completion" and answer.usage.total_tokens > 0, answer


def with_calls():
    answer = client.chat.completions.create(model="helper", messages=says("count"), temperature=0, user="ann")
    assert answer.choices[0].message.content == "Counted.", answer


def streamed():
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model="gatefold", messages=says("hello"), stream=True, stream_options=options))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Hello there." and chunks[-1].usage.total_tokens > 0, chunks


def with_the_helper():
    with client.chat.completions.stream(model="helper", messages=says("hello")) as stream:
        for _ in stream:
            pass
        answer = stream.get_final_completion()
    assert answer.choices[0].message.content == "Hello there.", answer


def asynchronous():
    async def ask():
        async with AsyncOpenAI(base_url=BASE_URL, api_key=TOKEN) as client:
            asked = [client.chat.completions.create(model="helper", messages=says("hello")) for _ in range(4)]
            return await asyncio.gather(*asked)

    answers = asyncio.run(ask())
    assert all(answer.choices[0].message.content == "Hello there." for answer in answers), answers


def models():
    assert [model.id for model in client.models.list()] == ["gatefold", "helper"]
    assert client.models.retrieve("helper").owned_by == "gatefold"


def unknown():
    error = raised(NotFoundError, lambda: client.chat.completions.create(model="no-such", messages=says("hello")))
    assert error.code == "model_not_found", error


def tools():
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    error = raised(BadRequestError, lambda: client.chat.completions.create(model="helper", messages=says("hello"), tools=[tool]))
    assert error.param == "tools" and "its own tools" in error.message, error


def stranger():
    wrong = OpenAI(base_url=BASE_URL, api_key="sk-wrong")
    raised(AuthenticationError, lambda: wrong.models.list())


def failing():
    error = raised(APIStatusError, lambda: client.chat.completions.create(model="helper", messages=says("refused")))
    assert error.status_code == 424 and error.code == "run_failed", error


def raised(kind, ask):
    try:
        answer = ask()
    except kind as error:
        return error
    raise AssertionError(f"{answer}")


failed = 0
for check in [whole, with_calls, streamed, with_the_helper, asynchronous, models, unknown, tools, stranger, failing]:
    name = f"openai from PyPI: {check.__name__.replace('_', ' ')}"
    try:
        check()
        print(f"ok     {name}")
    except Exception as error:  # noqa: BLE001, whatever goes wrong is a fault of the check
        failed += 1
        print(f"FAILED {name}: {error!r}")
sys.exit(1 if failed else 0)
