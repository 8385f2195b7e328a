import instructor
from openai import OpenAI
from pydantic import BaseModel

from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run


class Person(BaseModel):
    name: str
    age: int


def extract(model):
    client = instructor.from_openai(OpenAI(base_url=BASE_URL, api_key=API_KEY))
    messages = [{"role": "user", "content": "Extract: Jane is 41 years old."}]
    return client.chat.completions.create(model=model, response_model=Person, messages=messages)


def extracts_with_a_model_that_knows_tools():
    assert extract(TOOLS_MODEL).age == 41


def extracts_with_the_default_model():
    assert isinstance(extract(DEFAULT_MODEL), Person)


run("instructor", extracts_with_a_model_that_knows_tools, extracts_with_the_default_model)
