"""Who is asking: access tokens for apps, signed requests for IVR bridges. A voice is never a credential.

`principal`, `tokens` and `signature` are pure; `jwks` fetches keys; `demo` issues the demo's own tokens; `dependencies`
is all that FastAPI sees.
"""
