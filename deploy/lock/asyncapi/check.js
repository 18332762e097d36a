// Prints what the official parser finds wrong with an AsyncAPI document; exits with 1 where it is an error.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
for (const { severity, code, path, message } of diagnostics) console.log(severity, code, path.join("/"), message);
process.exit(diagnostics.some(({ severity }) => severity === 0) ? 1 : 0);
