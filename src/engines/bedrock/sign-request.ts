import { AwsV4Signer } from "aws4fetch";
import type { Authorize } from "../openai-compatible/authorize.ts";
import type { AwsCredentialSource } from "./aws-credentials.ts";

/** Signs each request with Signature Version 4. */
export function signRequests(source: AwsCredentialSource, region: string): Authorize {
  return async ({ url, body }) => {
    const { accessKeyId, secretAccessKey, sessionToken } = await source.get();
    const signer = new AwsV4Signer({
      method: "POST",
      url,
      body,
      service: "bedrock",
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    });
    const { headers } = await signer.sign();
    const signed = Object.fromEntries(headers);
    // The connection sets it.
    delete signed.host;
    return signed;
  };
}
