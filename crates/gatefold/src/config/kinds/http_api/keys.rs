use crate::config::key::{Key, Kind};
use crate::config::kinds::{allow_private, credentials};

const BASE_URL: Key = Key {
    details: "Paths are added to it.",
    unset: "none",
    example: "\"https://api.example.com/v1\"",
    ..Key::new("base_url", Kind::Url, "Where an HTTP API is.")
};

const AUTH: Key = Key {
    details: "Take secrets from variables or the keyring: `${VAR}`, `${secret:NAME}`. They are never \
              shown. With `authorization_code` a person signs in: `gatefold login NAME`.",
    unset: "none",
    example: "{ authorization_code = { issuer = \"https://id.example.com\", client_id = \"my-client\" } }",
    ..Key::new("auth", Kind::Auth, "How to sign in at an HTTP API.")
};

const HEADERS: Key = Key {
    details: "The values are never shown.",
    unset: "none",
    example: "{ X-Team = \"support\" }",
    ..Key::new("headers", Kind::Headers, "Headers that every request carries.")
};

const RATE: Key = Key {
    details: "A call that would have to wait for more than 5 s is refused, and its answer says when to come \
              back.",
    unset: "no limit",
    example: "\"10/s\"",
    ..Key::new("rate", Kind::Rate, "How often an HTTP API may be called.")
};

const ENCODED_SLASHES: Key = Key {
    details: "Most servers decode a path before they look for its segments. So an argument whose slashes would \
              lead to another operation's path is refused, `5/salary` where there is `/users/{id}/salary`; \
              `group/project` goes on working. `true` is for a server that looks for segments first: it takes an \
              encoded slash (`%2F`) for a part of a segment. Segments `.` and `..` are refused either way.",
    unset: "false",
    example: "true",
    ..Key::new(
        "encoded_slashes",
        Kind::Flag,
        "Whether an HTTP API finds the operation before it decodes the path.",
    )
};

pub(super) const OPENAPI: &[Key] = &[
    Key {
        details: "OpenAPI 3.0, 3.1 or 3.2, or Swagger 2, in JSON or YAML. A file may refer to other files \
                  in its folder.",
        example: "\"openapi.json\"",
        ..Key::new("openapi", Kind::PathOrUrl, "The description of an HTTP API.")
    },
    Key { needs: &["openapi"], unset: "the server that the description names", ..BASE_URL },
    Key {
        unset: "the defaults in the description",
        example: "{ region = \"eu\" }",
        needs: &["openapi"],
        ..Key::new(
            "server_variables",
            Kind::Variables,
            "Values for the variables in the addresses of a description's servers.",
        )
    },
    Key {
        details: "A TOML file with tables `[operations.NAME]`, by the names of the tools: `name` renames one, \
                  `hide = true` leaves it out, `description` and `group` take the place of its own, `ask = true` \
                  makes a person approve each call. A change takes effect at the next reload.",
        unset: "none",
        example: "\"api.overlay.toml\"",
        needs: &["openapi"],
        ..Key::new("overlay", Kind::Path, "Changes to what the description says.")
    },
    Key { needs: &["openapi"], ..AUTH },
    Key { needs: &["openapi"], ..HEADERS },
    Key { needs: &["openapi"], ..RATE },
    Key { needs: &["openapi"], ..ENCODED_SLASHES },
    allow_private::key(&["openapi"]),
    credentials::key(&["openapi"]),
];

pub(super) const ACTIONS: &[Key] = &[
    Key {
        details: "`path` is below `base_url`, with parameters as `{name}`. `parameters` is the JSON \
                  Schema of the arguments, as a table or as JSON text. Those that are not in the path \
                  go into the query or, where the method has a body, into a JSON object; `in` names \
                  others: `{ trace = \"header\" }`. `body` is JSON text in which `{name}` stands for a \
                  parameter, where the API wants another shape. `extract` is a jq program over the \
                  answer. With `confirm = true` a person has to approve each call.",
        example: "[{ name = \"get_contact\", method = \"GET\", path = \"/contacts/{id}\" }]",
        ..Key::new("actions", Kind::Actions, "The operations of an HTTP API without a description.")
    },
    Key { needs: &["actions"], ..BASE_URL },
    Key { needs: &["actions"], ..AUTH },
    Key { needs: &["actions"], ..HEADERS },
    Key { needs: &["actions"], ..RATE },
    Key { needs: &["actions"], ..ENCODED_SLASHES },
    allow_private::key(&["actions"]),
    credentials::key(&["actions"]),
];
