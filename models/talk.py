"""Everyday requests about anything: frames around topics, for the teacher to embed.

They teach the table what the words of requests mean (buy, recommend, recipe, news, remind) and
which words mean little. No tool belongs to them; the teacher alone says which tools are near.
"""

import random

from phrasing import CONTEXTS, FRAMES
from sources import Tool

TOPIC_FRAMES = [
    "What is {t}?", "Tell me about {t}.", "I'm looking for information about {t}",
    "Find articles about {t}", "Where can I buy {t}?", "Can you recommend some good {t}?",
    "What are the latest news on {t}?", "Give me a summary of {t}.", "How much does {t} cost?",
    "Show me pictures of {t}", "I want to learn more about {t}.", "Explain {t} to a beginner.",
    "I'm interested in {t}, what should I read?", "Find the best {t} near me", "{t}",
    "Compare {t} and {u}", "Write a short text about {t}.", "Plan {t} for next weekend.",
    'Translate "{t}" into Spanish.', "Are there any events about {t} this month?",
    "I need help with my {t}.", "Search for research papers on {t}", "Which companies sell {t}?",
    "Give me five ideas for {t}.", "What does the word {t} mean?", "Create a quiz about {t}.",
    "Make a presentation on {t}.", "Find videos that teach {t}", "Design a logo for {t}.",
    "Remind me of {t} tomorrow at 9.", "Add {t} to my shopping list.", "Book {t} for two people.",
    "Check the price of {t} on different websites", "I lost my {t}. What can I do?",
    "What's the history of {t}?", "How popular is {t} in Germany?", "Get statistics on {t}",
    "Analyse this document on {t}.", "Convert my file about {t} to PDF", "Find a course on {t}",
    "What jobs are there in {t}?", "Recommend a recipe with {t}.", "Who is an expert on {t}?",
    "Which {t} is right for me?", "Is there an app for {t}?", "Track my {t}.", "Count the {t}",
    "Send a message to my friend about {t}.", "Schedule a meeting on {t} for Monday.",
    "Draw a chart of {t} over the last year.", "Find a gift related to {t}.", "Sort by {t}",
    "What are people saying about {t} on social media?", "Find similar {t}", "Rate my {t}.",
    "What laws apply to {t}?", "Find a podcast about {t}", "Play a song about {t}",
    "Save this note on {t}.", "Calculate the {t} from the {u}.", "Summarise the video on {t}.",
    "Predict {t} for the next month.", "Look up reviews of {t}", "How do I fix {t}?",
    "Find flights and hotels for {t}.", "Which movies are about {t}?", "Upload {t} to the {u}.",
    "Is {t} better than {u}?", "Generate an image of {t} with {u}.", "Delete all {t} from my {u}",
    "Download the {t} and share it with my team.", "Help me to improve my {t}.",
    "Find out whether {t} affects {u}.", "What should I know before I invest in {t}?",
    "Write code that handles {t}.", "How healthy is {t}?", "Find a game like {t}",
    "Let me know when {t} changes.", "Can I get a discount on {t}?", "Read {t} aloud.",
]

OPENINGS = [
    "Hi, ", "Hello! ", "Hey, ", "Please ", "I would greatly appreciate it: ", "Quick question: ",
    "Can you help me? ", "I have a request. ", "I'm not sure how to put this. ", "Good morning! ",
    "For my work: ", "If possible, ", "As soon as possible: ", "I need this today. ",
]


INTENTS = """find, look for, search for, recommend, suggest, compare, track, monitor, analyze,
summarize, explain, translate, convert, calculate, estimate, predict, check, verify, review, rate,
book, reserve, schedule, plan, organize, order, buy, sell, rent, pay for, donate to, invest in,
learn about, study, practise, teach me, improve, fix, repair, clean up, build, design, draw, paint,
write about, edit, proofread, format, print, scan, record, play, listen to, watch, read, download,
upload, share, send, post about, publish, remind me of, add, remove, rename, sort, filter, count,
list, show me, visualize, map, locate, get directions to, travel to, visit, cook, diagnose, treat,
measure, test, debug, deploy, install, configure, automate, generate, simulate, extract, collect,
identify, recognize, detect, classify, describe, interpret, discover, explore, get updates on,
get ideas for, discuss, brainstorm, memorize, solve, prove, decode, encrypt, back up, restore,
join, cancel, apply for, subscribe to, follow, invite people to, manage, export, import, merge,
split, crop, resize, compress, chat about, get tips on, get feedback on, make money with""".replace(
    "\n", " ").split(", ")

QUALIFIERS = [
    "", "", "", "", " for free", " near me", " in London", " under 50 dollars", " for beginners",
    " step by step", " by tomorrow", " in French", " for my children", " online", " in Japan",
    " for the past week", " in real time", " as a table", " on my phone", " for a presentation",
    " with good reviews", " from last year", " automatically", " in detail", " in my area",
    " on YouTube", " as an image", " from a PDF", " by email", " in Python", " every morning",
    " for my customers", " at home", " between two dates", " by its ID", " in simple terms",
    " from a website", " in my calendar", " for a birthday", " with a link", " for 2024",
]

PERSONAS = [
    "teacher", "nurse", "lawyer", "musician", "photographer", "farmer", "engineer", "accountant",
    "traveller", "gamer", "parent", "chef", "journalist", "designer", "investor", "athlete",
    "student", "scientist", "shop owner", "landlord", "recruiter", "blogger", "translator",
    "film lover", "data analyst", "system administrator", "marketing manager", "doctor",
]


def topics(tools: list[Tool]) -> list[str]:
    """Nouns of WordNet and short descriptions of software."""
    nouns = [tool.name.split(", ")[0] for tool in tools
             if tool.source == "wordnet" and tool.server == "noun"]
    short = [tool.description[0].lower() + tool.description[1:] for tool in tools
             if tool.source == "debian" and len(tool.description.split()) <= 8]
    return sorted(set(nouns)) + sorted(set(short))


def everyday(tools: list[Tool], count: int, seed: int) -> list[str]:
    """`count` everyday requests, the same for the same seed."""
    chance = random.Random(seed)
    about = topics(tools)
    made = []
    for _ in range(count):
        text = chance.choice(TOPIC_FRAMES).format(t=chance.choice(about), u=chance.choice(about))
        drawn = chance.random()
        if drawn < 0.2:
            text = chance.choice(OPENINGS) + text
        elif drawn < 0.4:
            text = f"{chance.choice(CONTEXTS)} {text}"
        elif drawn < 0.5:
            text = f"{text} {chance.choice(CONTEXTS)}"
        made.append(text)
    return made


def intended(tools: list[Tool], count: int, seed: int) -> list[str]:
    """`count` requests that join an intent, a topic and a condition, with one need or two."""
    chance = random.Random(seed)
    about = topics(tools)

    def need() -> str:
        order = f"{chance.choice(INTENTS)} {chance.choice(about)}{chance.choice(QUALIFIERS)}"
        return chance.choice(FRAMES).format(x=order)

    made = []
    for _ in range(count):
        text = need()
        drawn = chance.random()
        if drawn < 0.2:
            text = f"As a {chance.choice(PERSONAS)}, {text[0].lower()}{text[1:]}"
        elif drawn < 0.35:
            text = f"{chance.choice(CONTEXTS)} {text}"
        elif drawn < 0.45:
            text = f"I'm a {chance.choice(PERSONAS)}. {text} Also, {need()}"
        made.append(text)
    return made
