"""Points generated requests at what the service has, and keeps them from waiting for streams without an end."""

import os

import schemathesis

def model_for(path):
    if path.endswith("/speech"):
        return "speech"
    if "/audio/" in path:
        return "listen"
    return "embed" if path.endswith(("/embeddings", "/rerank", "/api/embed")) else "echo"


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    path = context.operation.path
    if isinstance(body.get("model"), str) and len(body["model"]) % 8 != 0:
        model = model_for(path)
        body["model"] = model
        if model == "speech":
            body["voice"] = "low"
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path == "/v1/organization/requests" and case.query:
        case.query.pop("stream", None)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if isinstance(path_parameters, dict) and "project" in path_parameters:
        if not context.operation.path.endswith("/archive"):
            path_parameters["project"] = os.environ["PARLANCE_PROJECT"]
    return path_parameters
