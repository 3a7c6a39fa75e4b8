/* Python's statements and expressions, LALR(1), without conflicts but those that the operators' precedence decides.
   Actions only build: nodes of the fields they name, or by a constructor (lib/syntax/make.h). What Python's grammar
   cannot say without look-ahead is parsed loosely and checked by the constructor: assignment targets, the order of
   parameters and arguments. */
%code top {
#pragma GCC diagnostic ignored "-Wunused-function"
}
%code requires {
#include "syntax/make.h"
}
%define api.pure full
%define api.prefix {tkc_yy}
%define api.token.prefix {T_}
%define api.location.type {Loc}
%define parse.error custom
%define parse.lac full
%locations
%param {Parser *p}
%expect 0

%union {
    Str str;
    AstOp op;
    int count;
    Ast *ast;
    AstList *list;
    AstNames *names;
}

%code {
/* The stack is never reallocated, so an unwinding compilation leaks nothing. */
#define YYINITDEPTH 8000
#define YYMAXDEPTH 8000
#define YYMALLOC(size) NULL
#define YYFREE(block) ((void)(block))
#define YYLLOC_DEFAULT(result, rhs, n)                                     \
    do {                                                                   \
        if (n) (result) = (Loc){YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end}; \
        else (result) = (Loc){YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end}; \
    } while (0)

static int yylex(YYSTYPE *value, Loc *at, Parser *p);
static void yyerror(const Loc *at, Parser *p, const char *message);
}

/* The order of lib/syntax/tokens.def. */
%token <str> NAME
%token NUMBER STRING FSTRING_START FSTRING_MIDDLE FSTRING_END NEWLINE INDENT DEDENT
%token <ast> SKIPPED
%token START_FILE START_EXPR
%token FALSE "False" NONE "None" TRUE "True" AND "and" AS "as" ASSERT "assert" ASYNC "async" AWAIT "await"
%token BREAK "break" CLASS "class" CONTINUE "continue" DEF "def" DEL "del" ELIF "elif" ELSE "else" EXCEPT "except"
%token FINALLY "finally" FOR "for" FROM "from" GLOBAL "global" IF "if" IMPORT "import" IN "in" IS "is" LAMBDA "lambda"
%token NONLOCAL "nonlocal" NOT "not" OR "or" PASS "pass" RAISE "raise" RETURN "return" TRY "try" WHILE "while"
%token WITH "with" YIELD "yield"
%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}" COMMA "," COLON ":" SEMICOLON ";"
%token DOT "." ELLIPSIS "..." ARROW "->" WALRUS ":=" EQUAL "=" BANG "!"
%token <op> EQ "==" NE "!=" LT "<" LE "<=" GT ">" GE ">="
%token <op> PLUS "+" MINUS "-" STAR "*" SLASH "/" FLOORDIV "//" PERCENT "%" POWER "**" AT "@" AMPERSAND "&" BAR "|"
%token <op> CARET "^" TILDE "~" SHL "<<" SHR ">>" PLUS_EQUAL "+=" MINUS_EQUAL "-=" STAR_EQUAL "*=" SLASH_EQUAL "/="
%token <op> FLOORDIV_EQUAL "//=" PERCENT_EQUAL "%=" POWER_EQUAL "**=" AT_EQUAL "@=" AMPERSAND_EQUAL "&=" BAR_EQUAL "|="
%token <op> CARET_EQUAL "^=" SHL_EQUAL "<<=" SHR_EQUAL ">>="

%type <list> statements statements_opt statement recovered broken block orphans orphan simple_line simple_list suite else_part elif_part
%type <list> finally_part assign_chain star_elems target_elems elems args arg_list subscripts with_items
%type <list> paren_with_items fstring_items dict_items strings clauses conds decorators handlers plain_imports from_names import_names
%type <list> params param_list lambda_params lambda_param_list
%type <ast> small_statement compound definition async_statement if_statement for_statement while_statement try_statement with_statement def_statement
%type <ast> class_statement with_item value yield_expr star_exprs star_elem star_expr target_elem targets named_expr elem
%type <ast> test logical comparison arithmetic primary atom dict_item arg subscript string fstring fstring_item fstring_field field_spec
%type <ast> import_statement plain_import from_name test_opt return_type annotation default handler clause param lambda_param
%type <op> IN IS augmented compare_op unary_op
%type <str> dotted_name alias field_conversion
%type <count> dots comma
%type <names> names

/* From loosest to tightest. `~` stands for all unary operators. */
%left "or"
%left "and"
%precedence "not"
%left "|"
%left "^"
%left "&"
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "//" "%" "@"
%precedence "~"
%right "**"

%%

start:
    START_FILE statements_opt                   { p->body = $2; }
  | START_EXPR star_exprs                       { p->expr = $2; }
  ;

/* ---- statements ---- */

statements_opt:
    %empty                                      { $$ = list_new(p, NULL); }
  | statements
  ;
statements:
    statement
  | statements statement                        { $$ = list_join(p, $1, $2); }
  ;
statement:
    simple_line                                 { $$ = make_statement(p, $1, @$); }
  | compound                                    { $$ = make_statement(p, list_new(p, $1), @$); }
  | SKIPPED                                     { $$ = list_new(p, $1); }
  | recovered
  ;

/* A syntax error gives up the statement it is in; the block that follows, and else: and the like after it, are
   parsed for their own errors. */
recovered:
    broken orphans                              { $$ = list_join(p, $1, $2); }
  ;
broken:
    error NEWLINE                               { $$ = make_recovered(p, list_new(p, NULL), @1); yyerrok; }
  | error NEWLINE block                         { $$ = make_recovered(p, $3, @1); yyerrok; }
  ;
block:
    INDENT statements DEDENT                    { $$ = $2; }
  ;
orphans:
    %empty                                      { $$ = list_new(p, NULL); }
  | orphans orphan                              { $$ = list_join(p, $1, $2); }
  ;
orphan:
    ELIF named_expr ":" suite                   { $$ = $4; }
  | ELSE ":" suite                              { $$ = $3; }
  | handler                                     { $$ = &$1->handler.body; }
  | FINALLY ":" suite                           { $$ = $3; }
  ;

/* What a list may end with: 1 where it is there. */
comma:
    %empty                                      { $$ = 0; }
  | ","                                         { $$ = 1; }
  ;
simple_line:
    simple_list NEWLINE
  | simple_list ";" NEWLINE
  ;
simple_list:
    small_statement                             { $$ = list_new(p, $1); }
  | simple_list ";" small_statement             { $$ = list_add(p, $1, $3); }
  ;
small_statement:
    value                                       { $$ = make(p, (Ast){.kind = AST_EXPR, .unary.operand = $1}, @$); }
  | assign_chain                                { $$ = make_assign(p, $1, @$); }
  | star_exprs augmented value                  { $$ = make_augassign(p, $1, $2, @2, $3, @$); }
  | star_exprs ":" test                         { $$ = make_annassign(p, $1, $3, NULL, @$); }
  | star_exprs ":" test "=" value               { $$ = make_annassign(p, $1, $3, $5, @$); }
  | PASS                                        { $$ = make(p, (Ast){.kind = AST_PASS}, @$); }
  | BREAK                                       { $$ = make(p, (Ast){.kind = AST_BREAK}, @$); }
  | CONTINUE                                    { $$ = make(p, (Ast){.kind = AST_CONTINUE}, @$); }
  | RETURN                                      { $$ = make(p, (Ast){.kind = AST_RETURN}, @$); }
  | RETURN star_exprs                           { $$ = make(p, (Ast){.kind = AST_RETURN, .unary.operand = $2}, @$); }
  | ASSERT test                                 { $$ = make(p, (Ast){.kind = AST_ASSERT, .pair = {$2, NULL}}, @$); }
  | ASSERT test "," test                        { $$ = make(p, (Ast){.kind = AST_ASSERT, .pair = {$2, $4}}, @$); }
  | RAISE                                       { $$ = make(p, (Ast){.kind = AST_RAISE}, @$); }
  | RAISE test                                  { $$ = make(p, (Ast){.kind = AST_RAISE, .pair = {$2, NULL}}, @$); }
  | RAISE test FROM test                        { $$ = make(p, (Ast){.kind = AST_RAISE, .pair = {$2, $4}}, @$); }
  | DEL target_elems comma                      { $$ = make_delete(p, $2, @$); }
  | GLOBAL names                                { $$ = make(p, (Ast){.kind = AST_GLOBAL, .names = *$2}, @$); }
  | NONLOCAL names                              { $$ = make(p, (Ast){.kind = AST_NONLOCAL, .names = *$2}, @$); }
  | import_statement
  ;
/* a = b = value: targets are parsed as expressions; the constructor checks them */
assign_chain:
    star_exprs "=" value                        { $$ = list_add(p, list_new(p, $1), $3); }
  | assign_chain "=" value                      { $$ = list_add(p, $1, $3); }
  ;
value:
    star_exprs
  | yield_expr
  ;
augmented:
    "+=" | "-=" | "*=" | "/=" | "//=" | "%=" | "**=" | "@=" | "&=" | "|=" | "^=" | "<<=" | ">>="
  ;
names:
    NAME                                        { $$ = arena_new(p->arena, AstNames); vec_push(p->arena, $$, $1); }
  | names "," NAME                              { $$ = $1; vec_push(p->arena, $$, $3); }
  ;

import_statement:
    IMPORT plain_imports                        { $$ = make_import(p, AST_IMPORT, 0, NULL, $2, @$); }
  | FROM dotted_name IMPORT import_names        { $$ = make_import(p, AST_FROM, 0, $2, $4, @$); }
  | FROM dots dotted_name IMPORT import_names   { $$ = make_import(p, AST_FROM, $2, $3, $5, @$); }
  | FROM dots IMPORT import_names               { $$ = make_import(p, AST_FROM, $2, NULL, $4, @$); }
  ;
plain_imports:
    plain_import                                { $$ = list_new(p, $1); }
  | plain_imports "," plain_import              { $$ = list_add(p, $1, $3); }
  ;
plain_import:
    dotted_name alias                           { $$ = make(p, (Ast){.kind = AST_ALIAS, .alias = {$1, $2}}, @$); }
  ;
import_names:
    "*"                                         { $$ = list_new(p, make(p, (Ast){.kind = AST_ALIAS, .alias = {intern_cstr(p->names, "*"), NULL}}, @$)); }
  | from_names
  | "(" from_names comma ")"                    { $$ = $2; }
  ;
from_names:
    from_name                                   { $$ = list_new(p, $1); }
  | from_names "," from_name                    { $$ = list_add(p, $1, $3); }
  ;
from_name:
    NAME alias                                  { $$ = make(p, (Ast){.kind = AST_ALIAS, .alias = {$1, $2}}, @$); }
  ;
alias:
    %empty                                      { $$ = NULL; }
  | AS NAME                                     { $$ = $2; }
  ;
dotted_name:
    NAME
  | dotted_name "." NAME                        { $$ = intern_printf(p->names, "%s.%s", $1, $3); }
  ;
dots:
    "."                                         { $$ = 1; }
  | "..."                                       { $$ = 3; }
  | dots "."                                    { $$ = $1 + 1; }
  | dots "..."                                  { $$ = $1 + 3; }
  ;

/* ---- compound statements ---- */

compound:
    if_statement
  | while_statement
  | for_statement
  | try_statement
  | with_statement
  | definition
  | decorators definition                       { $$ = make_decorated($1, $2); }
  | async_statement
  ;
definition:
    def_statement
  | class_statement
  | ASYNC def_statement                         { $$ = make_async($2, @$); }
  ;
async_statement:
    ASYNC for_statement                         { $$ = make_async($2, @$); }
  | ASYNC with_statement                        { $$ = make_async($2, @$); }
  ;
suite:
    simple_line
  | NEWLINE block                               { $$ = $2; }
  ;

if_statement:
    IF named_expr ":" suite elif_part           { $$ = make_branch(p, AST_IF, $2, $4, $5, @$); }
  ;
elif_part:
    else_part
  | ELIF named_expr ":" suite elif_part         { $$ = list_new(p, make_branch(p, AST_IF, $2, $4, $5, @$)); }
  ;
else_part:
    %empty                                      { $$ = list_new(p, NULL); }
  | ELSE ":" suite                              { $$ = $3; }
  ;
while_statement:
    WHILE named_expr ":" suite else_part        { $$ = make_branch(p, AST_WHILE, $2, $4, $5, @$); }
  ;
for_statement:
    FOR targets IN star_exprs ":" suite else_part   { $$ = make_for(p, $2, $4, $6, $7, @$); }
  ;

try_statement:
    TRY ":" suite                                   { $$ = make_try(p, $3, NULL, NULL, NULL, @$); }
  | TRY ":" suite FINALLY ":" suite                 { $$ = make_try(p, $3, NULL, NULL, $6, @$); }
  | TRY ":" suite handlers else_part finally_part   { $$ = make_try(p, $3, $4, $5, $6, @$); }
  ;
finally_part:
    %empty                                      { $$ = NULL; }
  | FINALLY ":" suite                           { $$ = $3; }
  ;
handlers:
    handler                                     { $$ = list_new(p, $1); }
  | handlers handler                            { $$ = list_add(p, $1, $2); }
  ;
/* except* is read as except: where a try statement is looked at, it is refused */
handler:
    EXCEPT ":" suite                            { $$ = make_handler(p, NULL, NULL, $3, @$); }
  | EXCEPT test ":" suite                       { $$ = make_handler(p, $2, NULL, $4, @$); }
  | EXCEPT test AS NAME ":" suite               { $$ = make_handler(p, $2, $4, $6, @$); }
  | EXCEPT "*" test ":" suite                   { $$ = make_handler(p, $3, NULL, $5, @$); }
  | EXCEPT "*" test AS NAME ":" suite           { $$ = make_handler(p, $3, $5, $7, @$); }
  ;

/* with a as b, c: … and, in parentheses, with (a as b, c): …; without `as` the parentheses hold a tuple of items */
with_statement:
    WITH with_items ":" suite                       { $$ = make_with(p, $2, $4, @$); }
  | WITH "(" paren_with_items comma ")" ":" suite   { $$ = make_with(p, $3, $7, @$); }
  ;
with_items:
    with_item                                   { $$ = list_new(p, $1); }
  | with_items "," with_item                    { $$ = list_add(p, $1, $3); }
  ;
with_item:
    test                                        { $$ = make_with_item(p, $1, NULL); }
  | test AS target_elem                         { $$ = make_with_item(p, $1, $3); }
  ;
paren_with_items:
    test AS target_elem                         { $$ = list_new(p, make_with_item(p, $1, $3)); }
  | elems "," test AS target_elem               { $$ = list_add(p, $1, make_with_item(p, $3, $5)); }
  | paren_with_items "," test                   { $$ = list_add(p, $1, $3); }
  | paren_with_items "," test AS target_elem    { $$ = list_add(p, $1, make_with_item(p, $3, $5)); }
  ;

decorators:
    AT named_expr NEWLINE                       { $$ = list_new(p, $2); }
  | decorators AT named_expr NEWLINE            { $$ = list_add(p, $1, $3); }
  ;
def_statement:
    DEF NAME type_params "(" params ")" return_type ":" suite   { $$ = make_def(p, $2, @2, $5, $7, $9, @$); }
  ;
return_type:
    %empty                                      { $$ = NULL; }
  | "->" star_exprs                             { $$ = $2; }
  ;
class_statement:
    CLASS NAME type_params ":" suite                { $$ = make_class(p, $2, @2, list_new(p, NULL), $5, @$); }
  | CLASS NAME type_params "(" args ")" ":" suite   { $$ = make_class(p, $2, @2, $5, $8, @$); }
  ;

/* def f[T: int](x): type parameters change nothing at run time and are not kept */
type_params:
    %empty
  | "[" type_param_list comma "]"
  ;
type_param_list:
    type_param
  | type_param_list "," type_param
  ;
type_param:
    NAME annotation default
  | "*" NAME
  | "*" NAME "=" star_elem
  | "**" NAME default
  ;

params:
    %empty                                      { $$ = list_new(p, NULL); }
  | param_list comma                            { $$ = make_params(p, $1); }
  ;
param_list:
    param                                       { $$ = list_new(p, $1); }
  | param_list "," param                        { $$ = list_add(p, $1, $3); }
  ;
param:
    NAME annotation default                     { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_POSITIONAL, $1, $2, $3}}, @$); }
  | "*" NAME annotation                         { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_VARARGS, $2, $3}}, @$); }
  | "*" NAME ":" star_expr                      { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_VARARGS, $2, $4}}, @$); }
  | "**" NAME annotation                        { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_KWARGS, $2, $3}}, @$); }
  | "*"                                         { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_VARARGS, NULL}}, @$); }
  | "/"                                         { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_POSITIONAL_ONLY, NULL}}, @$); }
  ;
annotation:
    %empty                                      { $$ = NULL; }
  | ":" test                                    { $$ = $2; }
  ;
default:
    %empty                                      { $$ = NULL; }
  | "=" test                                    { $$ = $2; }
  ;
lambda_params:
    %empty                                      { $$ = list_new(p, NULL); }
  | lambda_param_list comma                     { $$ = make_params(p, $1); }
  ;
lambda_param_list:
    lambda_param                                { $$ = list_new(p, $1); }
  | lambda_param_list "," lambda_param          { $$ = list_add(p, $1, $3); }
  ;
lambda_param:
    NAME default                                { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_POSITIONAL, $1, NULL, $2}}, @$); }
  | "*" NAME                                    { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_VARARGS, $2}}, @$); }
  | "**" NAME                                   { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_KWARGS, $2}}, @$); }
  | "*"                                         { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_VARARGS, NULL}}, @$); }
  | "/"                                         { $$ = make(p, (Ast){.kind = AST_PARAM, .param = {PARAM_POSITIONAL_ONLY, NULL}}, @$); }
  ;

/* ---- lists of expressions ---- */

/* a   a, b   *a, b   a, */
star_exprs:
    star_elems comma                            { $$ = make_exprs(p, $1, $2, @$); }
  ;
star_elems:
    star_elem                                   { $$ = list_new(p, $1); }
  | star_elems "," star_elem                    { $$ = list_add(p, $1, $3); }
  ;
star_elem:
    test
  | star_expr
  ;
star_expr:
    "*" arithmetic                              { $$ = make(p, (Ast){.kind = AST_STARRED, .unary.operand = $2}, @$); }
  ;
/* for a, *b in …: no comparison, since `in` ends the targets */
targets:
    target_elems comma                          { $$ = make_exprs(p, $1, $2, @$); }
  ;
target_elems:
    target_elem                                 { $$ = list_new(p, $1); }
  | target_elems "," target_elem                { $$ = list_add(p, $1, $3); }
  ;
target_elem:
    arithmetic
  | star_expr
  ;
/* inside brackets */
elems:
    elem                                        { $$ = list_new(p, $1); }
  | elems "," elem                              { $$ = list_add(p, $1, $3); }
  ;
elem:
    named_expr
  | star_expr
  ;
yield_expr:
    YIELD                                       { $$ = make(p, (Ast){.kind = AST_YIELD}, @$); }
  | YIELD star_exprs                            { $$ = make(p, (Ast){.kind = AST_YIELD, .unary.operand = $2}, @$); }
  | YIELD FROM test                             { $$ = make(p, (Ast){.kind = AST_YIELD, .unary.operand = make(p, (Ast){.kind = AST_STARRED, .unary.operand = $3}, @3)}, @$); }
  ;

/* ---- expressions, loosest first ---- */

named_expr:
    test
  | NAME ":=" test                              { $$ = make_named(p, $1, @1, $3, @$); }
  ;
test_opt:
    %empty                                      { $$ = NULL; }
  | test
  ;
test:
    logical
  | logical IF logical ELSE test                { $$ = make(p, (Ast){.kind = AST_IFEXP, .ifexp = {.then = $1, .cond = $3, .orelse = $5}}, @$); }
  | LAMBDA lambda_params ":" test               { $$ = make(p, (Ast){.kind = AST_LAMBDA, .lambda = {*$2, $4}}, @$); }
  ;
logical:
    arithmetic
  | comparison
  | logical "or" logical                        { $$ = make_binary(p, AST_BOOLOP, AOP_LOGICAL_OR, @2, $1, $3, @$); }
  | logical "and" logical                       { $$ = make_binary(p, AST_BOOLOP, AOP_LOGICAL_AND, @2, $1, $3, @$); }
  | "not" logical                               { $$ = make(p, (Ast){.kind = AST_UNARY, .unary = {AOP_NOT, $2}}, @$); }
  ;
comparison:
    arithmetic compare_op arithmetic            { $$ = make_compare(p, $1, $2, @2, $3, @$); }
  | comparison compare_op arithmetic            { $$ = extend_compare(p, $1, $2, @2, $3, @$); }
  ;
compare_op:
    "==" | "!=" | "<" | "<=" | ">" | ">=" | IN | IS
  | NOT IN      { $$ = AOP_NOT_IN; }
  | IS NOT      { $$ = AOP_IS_NOT; }
  ;
arithmetic:
    primary
  | AWAIT primary                               { $$ = make(p, (Ast){.kind = AST_AWAIT, .unary.operand = $2}, @$); }
  | unary_op arithmetic %prec "~"               { $$ = make(p, (Ast){.kind = AST_UNARY, .unary = {$1, $2}}, @$); }
  | arithmetic "|" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "^" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "&" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "<<" arithmetic                  { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic ">>" arithmetic                  { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "+" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "-" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "*" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "/" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "//" arithmetic                  { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "%" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "@" arithmetic                   { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  | arithmetic "**" arithmetic                  { $$ = make_binary(p, AST_BINARY, $2, @2, $1, $3, @$); }
  ;
unary_op:
    "~"
  | "+"     { $$ = AOP_POS; }
  | "-"     { $$ = AOP_NEG; }
  ;

primary:
    atom
  | primary "." NAME                            { $$ = make(p, (Ast){.kind = AST_ATTRIBUTE, .attribute = {$1, $3, parser_span(p, @3)}}, @$); }
  | primary "(" args ")"                        { $$ = make_call(p, $1, $3, @$); }
  | primary "(" named_expr clauses ")"          { $$ = make_call(p, $1, list_new(p, make(p, (Ast){.kind = AST_GENERATOR, .comp = {$3, NULL, *$4}}, (Loc){@2.begin, @5.end})), @$); }
  | primary "[" subscripts comma "]"            { $$ = make_subscript(p, $1, $3, $4, (Loc){@3.begin, @4.end}, @$); }
  ;
args:
    %empty                                      { $$ = list_new(p, NULL); }
  | arg_list comma
  ;
arg_list:
    arg                                         { $$ = list_new(p, $1); }
  | arg_list "," arg                            { $$ = list_add(p, $1, $3); }
  ;
arg:
    named_expr
  | NAME "=" test                               { $$ = make(p, (Ast){.kind = AST_KEYWORD, .keyword = {$1, $3}}, @$); }
  | "*" test                                    { $$ = make(p, (Ast){.kind = AST_STARRED, .unary.operand = $2}, @$); }
  | "**" test                                   { $$ = make(p, (Ast){.kind = AST_KEYWORD, .keyword = {NULL, $2}}, @$); }
  ;
subscripts:
    subscript                                   { $$ = list_new(p, $1); }
  | subscripts "," subscript                    { $$ = list_add(p, $1, $3); }
  ;
subscript:
    elem
  | test_opt ":" test_opt                       { $$ = make_slice(p, $1, $3, NULL, @2, @$); }
  | test_opt ":" test_opt ":" test_opt          { $$ = make_slice(p, $1, $3, $5, @2, @$); }
  ;

atom:
    NAME                                        { $$ = make(p, (Ast){.kind = AST_NAME, .name = {$1}}, @$); }
  | NUMBER                                      { $$ = make_number(p, @$); }
  | strings                                     { $$ = make_strings(p, $1, @$); }
  | TRUE                                        { $$ = make(p, (Ast){.kind = AST_TRUE}, @$); }
  | FALSE                                       { $$ = make(p, (Ast){.kind = AST_FALSE}, @$); }
  | NONE                                        { $$ = make(p, (Ast){.kind = AST_NONE}, @$); }
  | "..."                                       { $$ = make(p, (Ast){.kind = AST_ELLIPSIS}, @$); }
  | "(" ")"                                     { $$ = make(p, (Ast){.kind = AST_TUPLE}, @$); }
  | "(" yield_expr ")"                          { $$ = $2; }
  | "(" elems comma ")"                         { $$ = make_exprs(p, $2, $3, @$); }
  | "(" named_expr clauses ")"                  { $$ = make(p, (Ast){.kind = AST_GENERATOR, .comp = {$2, NULL, *$3}}, @$); }
  | "[" "]"                                     { $$ = make(p, (Ast){.kind = AST_LIST}, @$); }
  | "[" elems comma "]"                         { $$ = make(p, (Ast){.kind = AST_LIST, .list = *$2}, @$); }
  | "[" named_expr clauses "]"                  { $$ = make(p, (Ast){.kind = AST_LISTCOMP, .comp = {$2, NULL, *$3}}, @$); }
  | "{" "}"                                     { $$ = make(p, (Ast){.kind = AST_DICT}, @$); }
  | "{" dict_items comma "}"                    { $$ = make(p, (Ast){.kind = AST_DICT, .list = *$2}, @$); }
  | "{" elems comma "}"                         { $$ = make(p, (Ast){.kind = AST_SET, .list = *$2}, @$); }
  | "{" named_expr clauses "}"                  { $$ = make(p, (Ast){.kind = AST_SETCOMP, .comp = {$2, NULL, *$3}}, @$); }
  | "{" test ":" test clauses "}"               { $$ = make(p, (Ast){.kind = AST_DICTCOMP, .comp = {$2, $4, *$5}}, @$); }
  ;
dict_items:
    dict_item                                   { $$ = list_new(p, $1); }
  | dict_items "," dict_item                    { $$ = list_add(p, $1, $3); }
  ;
dict_item:
    test ":" test                               { $$ = make(p, (Ast){.kind = AST_ENTRY, .pair = {$1, $3}}, @$); }
  | "**" arithmetic                             { $$ = make(p, (Ast){.kind = AST_ENTRY, .pair = {NULL, $2}}, @$); }
  ;

/* for a, b in c if d for e in f */
clauses:
    clause                                      { $$ = list_new(p, $1); }
  | clauses clause                              { $$ = list_add(p, $1, $2); }
  ;
clause:
    FOR targets IN logical conds                { $$ = make_clause(p, $2, $4, $5, false, @$); }
  | ASYNC FOR targets IN logical conds          { $$ = make_clause(p, $3, $5, $6, true, @$); }
  ;
conds:
    %empty                                      { $$ = list_new(p, NULL); }
  | conds IF logical                            { $$ = list_add(p, $1, $3); }
  ;

/* ---- strings: 'a' f"b{c!r:>{width}}" ---- */

strings:
    string                                      { $$ = list_new(p, $1); }
  | strings string                              { $$ = list_add(p, $1, $2); }
  ;
string:
    STRING                                      { $$ = make_string(p, @$); }
  | fstring
  ;
fstring:
    FSTRING_START fstring_items FSTRING_END     { $$ = make_fstring(p, $2, @1, @$); }
  ;
fstring_items:
    %empty                                      { $$ = list_new(p, NULL); }
  | fstring_items fstring_item                  { $$ = list_add(p, $1, $2); }
  ;
fstring_item:
    FSTRING_MIDDLE                              { $$ = make(p, (Ast){.kind = AST_STRING}, @$); }
  | fstring_field
  ;
fstring_field:
    "{" value field_conversion field_spec "}"               { $$ = make_field(p, $2, @1, (Loc){0, 0}, $3, @3, $4, @$); }
  | "{" value "=" field_conversion field_spec "}"           { $$ = make_field(p, $2, @1, @3, $4, @4, $5, @$); }
  ;
field_conversion:
    %empty                                      { $$ = NULL; }
  | "!" NAME                                    { $$ = $2; }
  ;
field_spec:
    %empty                                      { $$ = NULL; }
  | ":" fstring_items                           { $$ = make(p, (Ast){.kind = AST_FSTRING, .list = *$2}, @2); }
  ;

%%

/* The token kinds of the parser and of tokens.def are the same numbers. */
#define TOKEN(ID, class, text, op) _Static_assert((int)T_##ID == (int)TOK_##ID, "tokens.def and %token disagree on " #ID);
#include "syntax/tokens.def"
#undef TOKEN

static AstOp operator_of(int kind)
{
    static const AstOp ops[] = {
#define TOKEN(ID, class, text, op) AOP_##op,
#include "syntax/tokens.def"
#undef TOKEN
    };
    return kind >= TOK_FIRST ? ops[kind - TOK_FIRST] : AOP_NONE;
}

static int yylex(YYSTYPE *value, Loc *at, Parser *p)
{
    const FeedItem *item = &p->feed.data[p->next < p->feed.len ? p->next++ : p->feed.len - 1];
    const Token *t = &p->tokens->data[item->token];
    *at = (Loc){t->begin, t->end};
    if (item->kind == TOK_NAME) value->str = intern(p->names, p->source->text + t->begin, t->end - t->begin);
    else if (item->kind == TOK_SKIPPED) value->ast = item->skipped;
    else value->op = operator_of(item->kind);
    return item->kind;
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *p)
{
    yysymbol_kind_t symbols[YYNTOKENS];
    bool expected[TOK_COUNT] = {false};
    int n = yypcontext_expected_tokens(context, symbols, YYNTOKENS);
    for (int i = 0; i < n; i++) {
#define TOKEN(ID, class, text, op) if (symbols[i] == (yysymbol_kind_t)YYTRANSLATE(T_##ID)) expected[TOK_##ID - TOK_FIRST] = true;
#include "syntax/tokens.def"
#undef TOKEN
    }
    parser_unexpected(p, expected);
    return 0;
}

/* Only an exhausted stack comes here; parser_run's result says so. */
static void yyerror(const Loc *at, Parser *p, const char *message)
{
    (void)at, (void)p, (void)message;
}

int parser_run(Parser *p)
{
    return yyparse(p);
}
