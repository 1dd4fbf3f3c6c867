//! `pg_ident.conf`: whom the system's users and the owners of certificates may be (`parse_ident_line`,
//! `check_ident_usermap`). A system's user that begins with a slash is a regular expression; `\1` in a role is what its
//! first group has matched.

use super::tokens::{self, Include, Line};
use sql::host::UserMapping;
use sql::types::text::regular;
use std::path::Path;

/// The file. A map by another name than a line asks for is of no matter to it.
#[derive(Debug, Default)]
pub struct UserMaps(Vec<Mapping>);

#[derive(Debug)]
struct Mapping {
    line: i32,
    map: String,
    system_user: String,
    role: String,
}

fn read(path: &Path) -> Result<Vec<(i32, Result<Mapping, String>)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("could not open file \"{}\": {}", path.display(), tokens::reason(&error))
    })?;
    Ok(parse(&text, &tokens::beside(path)))
}

fn parse(text: &str, include: &Include<'_>) -> Vec<(i32, Result<Mapping, String>)> {
    let lines = tokens::lines(text, include);
    lines.iter().map(|line| (line.number, mapping(line))).collect()
}

fn mapping(line: &Line) -> Result<Mapping, String> {
    let mut fields = line.fields.as_ref().map_err(Clone::clone)?.iter();
    let mut next = || match fields.next().map(Vec::as_slice) {
        None => Err("missing entry at end of line".to_owned()),
        Some([word]) => Ok(word.text.clone()),
        Some(_) => Err("multiple values in ident field".to_owned()),
    };
    let (map, system_user, role) = (next()?, next()?, next()?);
    if let Some(pattern) = system_user.strip_prefix('/') {
        regular::check(pattern, "").map_err(|error| {
            let message = &error.fields().message;
            let reason = message.strip_prefix("invalid regular expression: ").unwrap_or(message);
            format!("invalid regular expression \"{pattern}\": {reason}")
        })?;
    }
    Ok(Mapping { line: line.number, map, system_user, role })
}

impl UserMaps {
    /// Reads the file. One that is not there has no maps.
    ///
    /// # Errors
    /// What is wrong with it, with lines' numbers.
    pub fn read(path: &Path) -> Result<UserMaps, Vec<String>> {
        if !path.exists() {
            return Ok(UserMaps::default());
        }
        let (mut maps, mut errors) = (Vec::new(), Vec::new());
        for (line, found) in read(path).map_err(|error| vec![error])? {
            match found {
                Ok(found) => maps.push(found),
                Err(error) => errors.push(format!(
                    "{error}, in line {line} of configuration file \"{}\"",
                    path.display()
                )),
            }
        }
        if errors.is_empty() { Ok(UserMaps(maps)) } else { Err(errors) }
    }

    /// The lines of a file for `pg_ident_file_mappings`, with what is wrong with them.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn shown(path: &Path) -> Result<Vec<UserMapping>, String> {
        let lines = read(path)?.into_iter().map(|(line, found)| match found {
            Ok(Mapping { line, map, system_user, role }) => UserMapping {
                line,
                error: None,
                map: Some(map),
                system_user: Some(system_user),
                role: Some(role),
            },
            Err(error) => UserMapping { line, error: Some(error), ..UserMapping::default() },
        });
        Ok(lines.collect())
    }

    /// Whether whom the system calls `system_user` may be the role `role`, by a map or, without one, by having its name.
    ///
    /// # Errors
    /// Why not, for the server's log (`check_usermap`).
    pub fn allows(&self, map: Option<&str>, role: &str, system_user: &str) -> Result<(), String> {
        let Some(map) = map else {
            return match role == system_user {
                true => Ok(()),
                false => Err(format!(
                    "provided user name ({role}) and authenticated user name ({system_user}) do not match"
                )),
            };
        };
        for found in self.0.iter().filter(|found| found.map == map) {
            if found.allows(role, system_user)? {
                return Ok(());
            }
        }
        Err(format!(
            "no match in usermap \"{map}\" for user \"{role}\" authenticated as \"{system_user}\""
        ))
    }
}

impl Mapping {
    fn allows(&self, role: &str, system_user: &str) -> Result<bool, String> {
        let Some(pattern) = self.system_user.strip_prefix('/') else {
            return Ok(self.role == role && self.system_user == system_user);
        };
        let found = regular::first_group(pattern, system_user).map_err(|error| {
            format!(
                "regular expression match for \"{pattern}\" failed: {}, in line {}",
                error.fields().message,
                self.line
            )
        })?;
        let Some(group) = found else { return Ok(false) };
        let Some((before, behind)) = self.role.split_once("\\1") else {
            return Ok(self.role == role);
        };
        let Some(group) = group else {
            return Err(format!(
                "regular expression \"{pattern}\" has no subexpressions as requested by backreference in \"{}\"",
                self.role
            ));
        };
        Ok(format!("{before}{group}{behind}") == role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(text: &str) -> Vec<(i32, Result<Mapping, String>)> {
        parse(text, &|name| Err(format!("no {name}")))
    }

    #[test]
    fn whom_a_user_may_be() {
        let found = maps(
            "omicron bryanh bryanh\n\
             omicron \"ann b\" ann\n\
             mymap /^(.*)@mydomain\\.com$ \\1\n\
             mymap /^(.*)@otherdomain\\.com$ guest\n\
             bad /^x$ a\\1\n",
        );
        let maps = UserMaps(found.into_iter().map(|(_, one)| one.unwrap()).collect());
        let allows = |map, role, user| maps.allows(map, role, user).is_ok();
        assert!(allows(None, "a", "a") && !allows(None, "a", "b"));
        assert!(allows(Some("omicron"), "bryanh", "bryanh"));
        assert!(allows(Some("omicron"), "ann", "ann b"));
        assert!(!allows(Some("omicron"), "ann", "bryanh"));
        assert!(allows(Some("mymap"), "joe", "joe@mydomain.com"));
        assert!(!allows(Some("mymap"), "jim", "joe@mydomain.com"));
        assert!(allows(Some("mymap"), "guest", "joe@otherdomain.com"));
        assert!(!allows(Some("mymap"), "joe", "joe@mydomain.comma"));
        assert!(!allows(Some("none"), "joe", "joe"));
        let wrong = maps.allows(Some("bad"), "a", "x").unwrap_err();
        assert!(wrong.contains("has no subexpressions"), "{wrong}");
    }

    #[test]
    fn what_is_wrong_is_told_by_line() {
        let found = maps("a b\n# x\na b,c d\na /( d\na b c d\n");
        let wrong: Vec<_> =
            found.iter().map(|(line, one)| (*line, one.as_ref().err().map(|it| &**it))).collect();
        assert_eq!(
            wrong,
            [
                (1, Some("missing entry at end of line")),
                (3, Some("multiple values in ident field")),
                (4, Some("invalid regular expression \"(\": parentheses () not balanced")),
                (5, None),
            ]
        );
    }
}
