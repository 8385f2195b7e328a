"""Runs scim2-tester against the service at SCIM_BASE_URL and prints one line of JSON per check."""

import json
import os

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

headers = {"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"}
with httpx2.Client(base_url=os.environ["SCIM_BASE_URL"], headers=headers) as connection:
    for result in check_server(SyncSCIMClient(connection)):
        fields = {"status": result.status.name, "title": result.title, "resource": result.resource_type}
        print(json.dumps({**fields, "reason": result.reason}))
