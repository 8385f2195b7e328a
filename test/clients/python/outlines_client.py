import openai
import outlines
from pydantic import BaseModel

from common import API_KEY, BASE_URL, DEFAULT_MODEL, run


class Person(BaseModel):
    name: str
    age: int


def answers_in_a_schema_with_the_default_model():
    client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY)
    model = outlines.from_openai(client, DEFAULT_MODEL)
    Person.model_validate_json(model("Extract: Jane is 41 years old.", Person, max_tokens=100))


run("outlines", answers_in_a_schema_with_the_default_model)
