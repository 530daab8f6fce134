/** What this app says of itself as a client. */
export function clientMetadata(redirectUrl: string) {
  return {
    client_name: 'Treadle',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}
