const json = `
object-X ::= "{" ( pair-X ( "," pair-X )* )? "}"
pair-X ::= string-X ":" " "? value-X
array-X ::= "[" ( value-X ( "," value-X )* )? "]"
value-X ::= object-X | array-X | string-X | number-X | "true" | "false" | "null"
string-X ::= "\\"" char-X* "\\""
char-X ::= [^"\\\\\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt]
number-X ::= "-"? ("0" | [1-9] [0-9]{0,8})
`;
export const grammarRulesOf = (_schema: unknown, _param: string, rule: string) =>
  `${rule} ::= object-${rule}\n${json.replaceAll("X", rule)}`;
export const grammarOfSchema = (s: unknown, p: string) => "root ::= main\n" + grammarRulesOf(s, p, "main");
export const grammarOfAnyObject = () => grammarOfSchema({}, "");
