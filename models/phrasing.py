"""Request-like texts made from descriptions: what a person might write to get a tool.

Descriptions say "Retrieves the labels of a message."; requests say "Could you show me a message's
labels?". No model writes these: a description's first sentence is put into the imperative, its
verb is exchanged for one that people use, and the whole is set in a frame with talk around it.
"""

import random
import re

from sources import Tool, first_sentence

# What people say for the verbs that descriptions use, by base form.
VERBS = {
    "get": ["show me", "give me", "find", "look up", "tell me", "fetch", "what is", "check", "see"],
    "retrieve": ["get", "show me", "give me", "find", "pull up", "look up", "what is"],
    "return": ["get", "show me", "give me", "find", "tell me", "what is"],
    "fetch": ["get", "show me", "find", "pull", "download"],
    "list": ["show me all", "which are", "see", "find all", "what are", "give me a list of", "get"],
    "describe": ["show me", "tell me about", "get details of", "explain", "look up"],
    "search": ["find", "look for", "look up", "hunt for"],
    "find": ["search for", "look for", "discover", "locate"],
    "create": ["make", "add", "set up", "start", "new", "build", "generate", "open"],
    "add": ["put", "create", "attach", "include", "insert", "append"],
    "register": ["sign up", "add", "enrol"],
    "delete": ["remove", "get rid of", "drop", "erase", "clear", "cancel"],
    "remove": ["delete", "take away", "get rid of", "drop", "detach"],
    "update": ["change", "edit", "modify", "adjust", "set", "rename"],
    "modify": ["change", "edit", "update", "adjust"],
    "set": ["change", "configure", "adjust", "put"],
    "send": ["mail", "post", "deliver", "write", "share"],
    "start": ["run", "launch", "begin", "turn on", "kick off"],
    "stop": ["end", "halt", "turn off", "cancel", "pause"],
    "run": ["execute", "start", "launch"],
    "execute": ["run", "perform"],
    "convert": ["turn", "change", "translate", "transform"],
    "generate": ["create", "make", "produce", "write"],
    "compute": ["calculate", "work out", "figure out"],
    "calculate": ["work out", "compute", "figure out", "how much is"],
    "upload": ["put", "store", "save", "send"],
    "download": ["get", "save", "fetch", "export"],
    "provide": ["give me", "get", "show me"],
    "check": ["see whether", "verify", "test", "is"],
    "validate": ["check", "verify"],
    "enable": ["turn on", "activate", "switch on", "allow"],
    "disable": ["turn off", "deactivate", "switch off"],
    "analyze": ["examine", "look into", "study", "review"],
    "view": ["show me", "see", "look at"],
}

FRAMES = [
    "{x}", "{x}", "{x}.", "{x} please", "Please {x}.", "Can you {x}?", "Could you {x} for me?",
    "I need to {x}.", "I want to {x}", "I'd like to {x}.", "How do I {x}?", "How can I {x}?",
    "Help me {x}.", "Is there a way to {x}?", "I would like your help to {x}.",
    "I need to {x}. How can I do that?", "Hi, could you please {x}? Thanks!",
    "I am trying to {x}, what should I use?", "Is there any tool that can {x}?",
    "Let me know how to {x}.", "We need to {x} as soon as possible.",
    "I'm looking for a way to {x}", "Can I {x}?", "What's the best way to {x}?",
    "Do you know how to {x}?", "I was wondering if you could {x}.", "{x}, I need it today.",
]

# Talk around a request, which says little of the tool that it needs.
CONTEXTS = [
    "I'm working on a project with my team.", "My company is preparing a report.",
    "I'm planning a trip with my family.", "I'm a student and have a deadline tomorrow.",
    "I'm a developer building a small application.", "I'm organizing an event for my friends.",
    "As a researcher I collect data.", "I run a small business.", "I'm writing an article.",
    "We are launching a new website.", "I'm curious about something.", "My boss asked me for this.",
    "I recently moved to a new city.", "My friend is interested in this topic.",
    "I'm a fan and want to know more.", "It would be great to have the details as well.",
    "Thank you in advance!", "Any suggestions would be appreciated.", "Please include an example.",
    "I want to stay informed.", "I don't know where to begin.", "Make sure the result is accurate.",
]

_THIRD_PERSON = re.compile(r"^(?:this (?:operation|method|endpoint|api|tool|call|function)\s+)?"
                           r"(?:is used to |allows you to |lets you |can be used to )?([A-Za-z]+)\b",
                           re.IGNORECASE)


def base_form(verb: str) -> str:
    """"retrieves" -> "retrieve"; a word that is no third person stays as it is."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb[:-1]
    return verb


def imperative(description: str) -> str:
    """The first sentence as an order: "Returns all labels." -> "return all labels"."""
    sentence = first_sentence(description).strip().rstrip(".")
    found = _THIRD_PERSON.match(sentence)
    if not found:
        return sentence
    return (base_form(found.group(1).lower()) + sentence[found.end():]).strip()


def reworded(order: str, chance: random.Random) -> str:
    """The order with its verb exchanged for one that people use, where one is known."""
    verb, _, rest = order.partition(" ")
    choices = VERBS.get(verb.lower())
    if not choices or not rest or chance.random() < 0.25:
        return order
    return f"{chance.choice(choices)} {rest}"


def framed(order: str, chance: random.Random) -> str:
    """The order set in a frame, half the time with talk before or after it."""
    text = chance.choice(FRAMES).format(x=order)
    drawn = chance.random()
    if drawn < 0.25:
        text = f"{chance.choice(CONTEXTS)} {text[0].upper()}{text[1:]}"
    elif drawn < 0.35:
        text = f"{text} {chance.choice(CONTEXTS)}"
    return text


MAX_ORDER_WORDS = 24


def request(tool: Tool, chance: random.Random) -> str:
    """One request-like text for a tool; each call draws another."""
    if tool.requests and chance.random() < 0.7:
        order = chance.choice(tool.requests)
        if tool.source == "wordnet":
            return order
        order = imperative(order)
    else:
        order = imperative(tool.description)
    order = " ".join(order.split()[:MAX_ORDER_WORDS]) or tool.name
    order = reworded(order, chance)
    if tool.source == "wordnet":
        return order
    if tool.server and chance.random() < 0.2 and tool.server.lower() not in order.lower():
        order = f"{order} {chance.choice(['in', 'on', 'with', 'from', 'using'])} {tool.server}"
    return framed(order, chance)


def requests_for_two(first: Tool, second: Tool, chance: random.Random) -> str:
    """A request with two needs."""
    joint = chance.choice([" Also, ", " Additionally, ", " And ", " Then ", " Moreover, "])
    return request(first, chance).rstrip(".?!") + "." + joint + request(second, chance)
