// Token exchange (RFC 8693) for `oidc_provider.mjs`, which has a place for such grants and none of its own.

import { createRemoteJWKSet, jwtVerify } from "jose";
import { errors } from "oidc-provider";

export const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const FIELDS = ["subject_token", "subject_token_type", "requested_token_type", "audience", "resource", "scope"];

/** Exchanges access tokens for `resource` for opaque ones of the server that is asked for. */
export function addExchange(provider, issuer, resource) {
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

    async function personOf(token) {
        const kept = await provider.AccessToken.find(token);
        if (kept) return kept.aud === resource && !kept.isExpired ? kept.accountId : undefined;
        const signed = await jwtVerify(token, keys, { issuer, audience: resource, typ: "at+jwt" }).catch(() => undefined);
        return signed?.payload.sub;
    }

    async function exchange(context) {
        const { params, client } = context.oidc;
        if (params.subject_token_type !== ACCESS_TOKEN) throw new errors.InvalidRequest("subject_token_type");
        const accountId = await personOf(params.subject_token);
        if (!accountId) throw new errors.InvalidRequest("the subject_token is not good");
        if (!params.resource) throw new errors.InvalidTarget("no resource");
        const grant = new provider.Grant({ accountId, clientId: client.clientId });
        grant.addResourceScope(params.resource, params.scope);
        const token = new provider.AccessToken({
            accountId,
            client,
            grantId: await grant.save(),
            gty: EXCHANGE,
            scope: params.scope,
        });
        const server = { scope: "tools", audience: params.resource, accessTokenFormat: "opaque" };
        token.resourceServer = new provider.ResourceServer(params.resource, server);
        context.body = {
            access_token: await token.save(),
            issued_token_type: ACCESS_TOKEN,
            token_type: token.tokenType,
            expires_in: token.expiration,
            scope: token.scope,
        };
    }

    provider.registerGrantType(EXCHANGE, exchange, FIELDS);
}
